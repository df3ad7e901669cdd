// Incidents, the horizon, links and fixes as JSON, for routes, events and the command line.
import type { Horizon } from "../horizon/buckets.ts";
import type { CrashReport } from "../incidents/crashes.ts";
import type { Incident, Incidents } from "../incidents/incident.ts";
import type { Links } from "../why/cause.ts";
import type { Fix } from "../why/fix.ts";
import { idJson } from "./exact-json.ts";

export function incidentsJson(given: Incidents) {
  const { verdict, level, incidents, more, errorGroups, checks, isNew, asOf } = given;
  const counts = { more, error_groups: errorGroups };
  const rest = { ...counts, checks, is_new: isNew, as_of: asOf };
  return { verdict, level, incidents: incidents.map(incidentJson), ...rest };
}

function incidentJson({ jobsWait, links, fix, crash, ...rest }: Incident) {
  return {
    ...rest,
    jobs_wait: jobsWait,
    links: linksJson(links),
    fix: fixJson(fix),
    crash: crash === undefined ? null : crashJson(crash),
  };
}

function crashJson({ jobs, ...rest }: CrashReport) {
  return { ...rest, jobs: jobs.map((job) => ({ ...job, id: idJson(job.id) })) };
}

export function linksJson({ queue, worker, job }: Links) {
  return { queue, worker, job: idJson(job) };
}

export function fixJson(fix: Fix | null) {
  if (fix === null) return null;
  const { action, label } = fix;
  return { action, label, post: postOf(fix) };
}

function postOf(fix: Fix) {
  const { action } = fix;
  if ("workerIds" in fix) {
    return { path: "/api/maintenance", body: { action, worker_ids: fix.workerIds } };
  }
  if ("jobIds" in fix) {
    return { path: "/api/jobs/action", body: { action, ids: fix.jobIds.map(idJson) } };
  }
  if ("scope" in fix) {
    const { scope, name } = fix;
    return { path: "/api/pauses", body: { action, scope, ...(name === null ? {} : { name }) } };
  }
  // With dry_run, the operation is a rehearsal, so the request changes nothing.
  return { path: "/api/operations", body: { q: fix.q, action, dry_run: true } };
}

/** `as_of` repeats `now`, the time of the horizon, under the name that other answers use. */
export function horizonJson(horizon: Horizon) {
  return { ...horizon, as_of: horizon.now };
}
