// One sentence, or three, about where a job stands: first what holds, then why, then what would help.

import { ageText } from "../../domain/portable/ages.ts";
import type { Value } from "../../domain/value.ts";
import {
  allAttemptsAre,
  byWorker,
  counted,
  grouped,
  momentText,
  named,
  workerNamed,
} from "../../domain/words.ts";
import { STALE_LOCK_MS } from "../../queue/workers/reset-stale-locks.ts";
import {
  behindText,
  type CauseFacts,
  isLost,
  isUnsupported,
  placeText,
  recoverQueues,
} from "./causes.ts";
import { isUnreportedBy } from "./holders.ts";

export function sentenceOf(known: CauseFacts): string {
  const { job } = known;
  switch (job.condition) {
    case "fetched":
      return fetched(known);
    case "running":
      return running(known);
    case "failed":
      return failed(known);
    case "blocked":
      return blocked(known);
    case "retrying":
      if (isLost(job)) return lost(known);
      return job.isDue ? ready(known) : retrying(known);
    case "scheduled":
      return isLost(job) ? lost(known) : scheduled(known);
    case "ready":
      return isLost(job) ? lost(known) : ready(known);
    default:
      return job.condition satisfies never;
  }
}

function fetched(known: CauseFacts): string {
  const { job, holder } = known;
  const age = ageText(job.nowMs - (job.lockedMs ?? job.nowMs));
  const who = byWorker(holder?.workerId ?? "");
  const behind = behindText(known);
  const first = `Fetched by ${who}${behind}${behind === "" ? "" : ","} ${age} ago and not started`;
  const heard = ageText(job.nowMs - (holder?.heardMs ?? job.nowMs));
  return holder?.state === "silent"
    ? `${first}; that worker is not responding: no heartbeat for ${heard}. Unlock it and another one takes the job.`
    : `${first}; its last heartbeat was ${heard} ago.`;
}

function running({ job, holder }: CauseFacts): string {
  const age = ageText(job.nowMs - (job.lockedMs ?? job.nowMs));
  if (holder === null) return `Has been locked for ${age}; its row does not name the worker.`;
  const who = byWorker(holder.workerId);
  const heard = ageText(job.nowMs - (holder.heardMs ?? job.nowMs));
  const refused = holder.unsettled.find(({ id }) => id === job.id);
  if (refused !== undefined) return `Has ended on ${who} and stays locked. ${refused.error}.`;
  switch (holder.state) {
    case "alive":
      if (isUnreportedBy(holder, job.id)) {
        return `Was fetched ${age} ago by ${who}, which does not report yet that it runs it; its last heartbeat was ${heard} ago.`;
      }
      return `Has run for ${age} on ${who}, whose last heartbeat was ${heard} ago.`;
    case "silent":
      return `Has been locked for ${age} by ${who}, which is not responding: no heartbeat for ${heard}. Unlock that worker and another one takes the job.`;
    case "unknown":
      return `Has been locked for ${age} by ${who}, which sends no heartbeats: check that it is still running.${oldLock(job.nowMs - (job.lockedMs ?? job.nowMs))}`;
    default:
      return holder.state satisfies never;
  }
}

const oldLock = (ms: number) =>
  ms < STALE_LOCK_MS ? "" : " The lock is older than 4 hours: any worker may take it away.";

function failed({ job, sameError }: CauseFacts): string {
  const within = job.failedMs - job.createdMs;
  const span = job.maxAttempts > 1 && within > 0 ? ` within ${ageText(within)}` : "";
  const last = `the last ended ${ageText(job.nowMs - job.failedMs)} ago`;
  return `Will not run again. ${allAttemptsAre(job.maxAttempts)} used up${span}; ${last}.${sameWay(sameError)}`;
}

function blocked({ job, holder, place }: CauseFacts): string {
  const name = named(job.queue?.name ?? "");
  const waits = `Waits for ${name}${place === null ? "" : `, ${placeText(place)}`}.`;
  if (holder === null) return `${waits} The queue is locked; its row does not name the worker.`;
  const who = byWorker(holder.workerId);
  const heard = ageText(job.nowMs - (holder.heardMs ?? job.nowMs));
  const lockAge = job.nowMs - (job.queue?.lockedMs ?? job.nowMs);
  switch (holder.state) {
    case "alive":
      return `${waits} The queue runs one job at a time, now on ${who}, whose last heartbeat was ${heard} ago.`;
    case "silent":
      return `${waits} The queue is stuck, locked by ${who}, which is not responding: no heartbeat for ${heard}. Unlock that worker and the queue goes on.`;
    case "unknown":
      return `${waits} The queue ${lockAge < STALE_LOCK_MS ? "has been" : "is stuck,"} locked for ${ageText(lockAge)} by ${who}, which sends no heartbeats: check that it is still running.${oldLock(lockAge)}`;
    default:
      return holder.state satisfies never;
  }
}

const CLEANED_UP = "was deleted by a cleanup while the job was being added";

function lost({ job, schema }: CauseFacts): string {
  if (job.task === null) {
    return `Cannot run: the name of its task ${CLEANED_UP}. Fail or complete it, and add it anew.`;
  }
  return `Cannot run: the row of its queue ${CLEANED_UP}. Workers repair this within 10 minutes; "${recoverQueues(schema)}" does at once.`;
}

function retrying({ job, sameError }: CauseFacts): string {
  const at = `in ${ageText(job.runAtMs - job.nowMs)}, at ${momentText(job.runAtMs)}`;
  const when = job.isNever ? "Runs never: its time is infinity." : `Runs again ${at}.`;
  const tries = `${grouped(job.attempts)} of ${counted(job.maxAttempts, "try", "tries")}`;
  return `${when} ${tries} failed; the last ended ${ageText(job.nowMs - job.failedMs)} ago.${sameWay(sameError)}`;
}

function scheduled({ job, knowledge }: CauseFacts): string {
  const at = `Due in ${ageText(job.runAtMs - job.nowMs)}, at ${momentText(job.runAtMs)}.`;
  const when = job.isNever ? "Due never: its time is infinity." : at;
  const nobody = isUnsupported(knowledge, job.task)
    ? ` No worker alive knows this task, ${named(job.task)}.`
    : "";
  return `${when}${nobody}`;
}

function ready(known: CauseFacts): string {
  const { job, knowledge, place, hasWorkers } = known;
  if (knowledge.runner !== null)
    return `${workerNamed(knowledge.runner)} says that it runs it now.`;
  if (isUnsupported(knowledge, job.task)) {
    return `No worker alive knows this task, ${named(job.task)}: it stays until one does.`;
  }
  const ahead = place?.ahead;
  const first =
    ahead === undefined || ahead.value === 0
      ? "Next free worker takes it"
      : `Due; ${counted(ahead, "job is", "jobs are")} before it`;
  if (!hasWorkers) return `${first}; whether a worker is alive is unknown.`;
  return knowledge.alive === 0 ? `${first}, but none that sends heartbeats is alive.` : `${first}.`;
}

/** The others; of an estimate one more or less makes no difference. */
function sameWay(value: Value | null): string {
  if (value === null) return "";
  const others = value.precision === "exact" ? { ...value, value: value.value - 1 } : value;
  if (others.value < 1) return "";
  return ` ${counted(others, "other fails", "others fail")} the same way.`;
}
