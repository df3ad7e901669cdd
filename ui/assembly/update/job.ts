/** One job and what can be done with it. */
import { JobModel, Model } from "../app/model";
import { Topic } from "../app/requests";
import { readListedJob } from "../generated/records";
import { JsonReader } from "../lib/json-reader";

export function openJob(m: Model): void {
  m.job = new JobModel();
  m.requests.forget(Topic.JobQuietly);
  // The row that was clicked is shown until the server's answer comes.
  const known = m.jobs.indexOf(m.route.jobId);
  if (known >= 0) m.job.job = m.jobs.jobs[known];
  askJob(m, Topic.Job);
}

export function askJob(m: Model, topic: Topic): void {
  m.job.loading = topic === Topic.Job;
  m.requests.read(m.access, topic, `api/jobs/${m.route.jobId}`);
}

export function refreshJob(m: Model): void {
  if (m.job.missing || m.requests.waitsFor(Topic.Job) || m.requests.waitsFor(Topic.JobQuietly)) {
    return;
  }
  askJob(m, Topic.JobQuietly);
}

export function takeJob(m: Model, body: string): void {
  const r = new JsonReader(body);
  const job = readListedJob(r);
  r.end();
  m.job.loading = false;
  if (r.failed) {
    m.job.error = `The server's answer can't be read: ${r.error}`;
    return;
  }
  m.job.error = "";
  m.job.missing = false;
  m.job.job = job;
}

export function updateJob(m: Model, action: string): void {
  if (action === "tree") m.job.raw = false;
  else if (action === "raw") m.job.raw = true;
}
