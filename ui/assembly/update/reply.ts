/** The one place where answers come in: it judges the status, then hands the body to its page. */
import { Gate } from "../app/access";
import { Model } from "../app/model";
import { Pending, Topic } from "../app/requests";
import { errorOf } from "./api-error";
import { takeJob } from "./job";
import { takeJobs } from "./jobs";
import { outage, recovered } from "./live";
import { refresh } from "./navigate";
import { takeAnsweredOverview, takeFailing } from "./overview";
import { writeDone, writeRefused } from "./results";
import { askSession, denied, sessionAnswered } from "./session";

export function replied(m: Model, id: i32, status: i32, retryAfter: string, body: string): void {
  const pending = m.requests.take(id);
  if (pending === null) return;
  const open = m.access.gate === Gate.Open;
  if (status === 401) denied(m, body);
  else if (pending.topic === Topic.Session) {
    sessionAnswered(m, status, retryAfter, body);
    if (status !== 200) unpark(m, errorOf(body, status).error);
  } else if (status >= 200 && status < 300) answered(m, pending, body);
  else if (pending.topic >= Topic.Add) writeFailed(m, pending, status, retryAfter, body);
  else readFailed(m, pending.topic, status, errorOf(body, status).error);
  if (!open) return;
  if (isAway(status)) outage(m, errorOf(body, status).error);
  else if (status < 400) recovered(m);
}

function answered(m: Model, pending: Pending, body: string): void {
  switch (pending.topic) {
    case Topic.Overview:
      if (takeAnsweredOverview(m, body)) refresh(m);
      break;
    case Topic.Failing:
      takeFailing(m, body);
      break;
    case Topic.Jobs:
      takeJobs(m, false, body);
      break;
    case Topic.JobsQuietly:
      takeJobs(m, true, body);
      break;
    case Topic.Job:
    case Topic.JobQuietly:
      takeJob(m, body);
      break;
    default:
      writeDone(m, pending, body);
  }
}

/** The server, or its database, isn't there. */
function isAway(status: i32): bool {
  return status === 0 || status === 503;
}

/** During an outage the last data stay, under a banner. */
function readFailed(m: Model, topic: Topic, status: i32, reason: string): void {
  const away = isAway(status);
  if (topic === Topic.Jobs || topic === Topic.JobsQuietly) {
    m.jobs.loading = false;
    if (!away || !m.jobs.loaded) m.jobs.error = reason;
  } else if (topic === Topic.Job || topic === Topic.JobQuietly) {
    m.job.loading = false;
    m.job.missing = status === 404;
    if (!away && status !== 404) m.job.error = reason;
  } else if (!away) m.notices.bad(reason);
}

function writeFailed(m: Model, write: Pending, status: i32, wait: string, body: string): void {
  const error = errorOf(body, status);
  if (status === 403 && error.code === "csrf" && !write.again) tryAgain(m, write);
  else writeRefused(m, write, writeReason(status, wait, error.error));
}

/** The server may have restarted: a new session brings a new CSRF token. */
function tryAgain(m: Model, write: Pending): void {
  write.again = true;
  m.requests.parked.push(write);
  if (m.access.gate === Gate.Open) askSession(m);
}

/** Without a new session the writes that wait for one can't be sent. */
function unpark(m: Model, reason: string): void {
  const parked = m.requests.parked;
  m.requests.parked = [];
  for (let i = 0; i < parked.length; i++) writeRefused(m, parked[i], reason);
}

function writeReason(status: i32, retryAfter: string, reason: string): string {
  if (status === 0) {
    return "No answer came, so it may or may not have been done. Look before trying again.";
  }
  return retryAfter.length > 0 ? `${reason} Try again in ${retryAfter} s.` : reason;
}
