// Explains a job's condition, and what the user can do, in a few sentences.

import { ageText } from "../../domain/portable/ages.ts";
import type { Value } from "../../domain/value.ts";
import { byWorker, countText, momentText, numberText, shortName } from "../../domain/words.ts";
import { STALE_LOCK_MS } from "../../queue/workers/reset-stale-locks.ts";
import { beingCancelled } from "../controls/being-cancelled.ts";
import { pausedSubject } from "../controls/pause-text.ts";
import { limitedText } from "../limits/limit-of-job.ts";
import { crashesWorkers } from "./cause.ts";
import {
  behindText,
  type CauseFacts,
  CRASHES_AGAIN,
  isLost,
  isUnsupported,
  placeText,
  recoverQueues,
} from "./causes.ts";
import { type Holder, isUnreportedBy } from "./holders.ts";
import {
  deadlineText,
  endedByHand,
  failedAgo,
  lastAttemptText,
  spentText,
  type WhyFacts,
} from "./job-facts.ts";

export function sentenceOf(facts: CauseFacts): string {
  const { job } = facts;
  switch (job.condition) {
    case "fetched":
      return `${toCancel(facts)}${fetchedSentence(facts)}`;
    case "running":
      return `${toCancel(facts)}${runningSentence(facts)}`;
    case "failed":
      return failedSentence(facts);
    case "blocked":
      return blockedSentence(facts);
    case "retrying":
      if (isLost(job)) return lostSentence(facts);
      return job.isDue ? readySentence(facts) : retryingSentence(facts);
    case "scheduled":
      return isLost(job) ? lostSentence(facts) : scheduledSentence(facts);
    case "ready":
      return isLost(job) ? lostSentence(facts) : readySentence(facts);
    default:
      return job.condition satisfies never;
  }
}

/** For example `Being cancelled: deploy, by ana. `. */
function toCancel({ cancellation }: CauseFacts): string {
  return cancellation === null ? "" : `B${beingCancelled(cancellation).slice(1)}. `;
}

function fetchedSentence(facts: CauseFacts): string {
  const { job, holder, limit } = facts;
  const age = ageText(job.nowMs - (job.lockedMs ?? job.nowMs));
  const worker = byWorker(holder?.workerId ?? "");
  const behind = behindText(facts);
  const first = `Fetched by ${worker}${behind}${behind === "" ? "" : ","} ${age} ago and not started`;
  const heartbeatAge = ageText(job.nowMs - (holder?.lastHeartbeatMs ?? job.nowMs));
  if (limit !== null && holder?.state === "alive") return `${first}; ${limitedText(limit)}.`;
  return holder?.state === "stale"
    ? `${first}; that worker is not responding: no heartbeat for ${heartbeatAge}. Unlock that worker so that another one takes the job.`
    : `${first}; that worker's last heartbeat was ${heartbeatAge} ago.`;
}

function runningSentence({ job, holder }: CauseFacts): string {
  const lockedMs = job.lockedMs ?? job.nowMs;
  const age = ageText(job.nowMs - lockedMs);
  if (holder === null) return `Has been locked for ${age}; its row does not name the worker.`;
  const worker = byWorker(holder.workerId);
  const heartbeatAge = ageText(job.nowMs - (holder.lastHeartbeatMs ?? job.nowMs));
  const refused = holder.unsettled.find(({ id }) => id === job.id);
  if (refused !== undefined) return `Has ended on ${worker} and stays locked. ${refused.error}.`;
  switch (holder.state) {
    case "alive":
      if (isUnreportedBy(holder, job.id)) {
        return `Locked ${age} ago by ${worker}. The next heartbeat will show whether the job runs; until then, the job counts as running.`;
      }
      return `Has run for ${ageText(Math.max(0, job.nowMs - beganMs(holder, job)))} on ${worker}, whose last heartbeat was ${heartbeatAge} ago.`;
    case "stale":
      return `Has been locked for ${age} by ${worker}, which is not responding: no heartbeat for ${heartbeatAge}. Unlock that worker so that another one takes the job.`;
    case "unknown":
      return `Has been locked for ${age} by ${worker}, which sends no heartbeats: check that it is still running.${oldLock(job.nowMs - lockedMs)}`;
    default:
      return holder.state satisfies never;
  }
}

/**
 * A worker renews the locks of long jobs, so `locked_at` may be later than the start of the attempt. If the lock is
 * later than the last heartbeat, the heartbeat's list may be about an earlier attempt.
 */
function beganMs({ current, lastHeartbeatMs }: Holder, { id, lockedMs, nowMs }: WhyFacts): number {
  const since = current.find((one) => one.id === id)?.since;
  const isReported = since !== undefined && (lockedMs ?? 0) <= (lastHeartbeatMs ?? 0);
  return isReported ? Date.parse(since) : (lockedMs ?? nowMs);
}

const oldLock = (ms: number) =>
  ms < STALE_LOCK_MS ? "" : " The lock is older than 4 hours: any worker may remove it.";

function failedSentence({ job, sameError }: CauseFacts): string {
  const within = job.isFailureTimed ? job.failedMs - job.createdMs : 0;
  const span =
    job.maxAttempts > 1 && within > 0 ? `, ${ageText(within)} after the job was added` : "";
  const deadline = deadlineText(job);
  if (deadline !== null) return `Will not run again. ${deadline}.${sameWay(sameError)}`;
  const byHand = endedByHand(job);
  if (byHand !== null) return `Will not run again. ${byHand}; ${failedAgo(job)}.`;
  const crashes = crashesWorkers(job);
  const spent = `${spentText(job, job.isFailureTimed || crashes)}${span}; ${lastAttemptText(job)}`;
  if (crashes) {
    return `Will not run again. ${spent}. A${CRASHES_AGAIN.slice(1)}.`;
  }
  return `Will not run again. ${spent}.${sameWay(sameError)}`;
}

function blockedSentence({ job, holder, place, pause }: CauseFacts): string {
  const name = shortName(job.queue?.name ?? "");
  const waits = `Waits for queue ${name}${place === null ? "" : `, ${placeText(place)}`}.`;
  if (pause !== null) return `${waits} ${pausedSubject(pause)}.`;
  if (holder === null) return `${waits} The queue is locked; its row does not name the worker.`;
  const worker = byWorker(holder.workerId);
  const heartbeatAge = ageText(job.nowMs - (holder.lastHeartbeatMs ?? job.nowMs));
  const lockAge = job.nowMs - (job.queue?.lockedMs ?? job.nowMs);
  switch (holder.state) {
    case "alive":
      return `${waits} The queue runs one job at a time, now on ${worker}, whose last heartbeat was ${heartbeatAge} ago.`;
    case "stale":
      return `${waits} The queue is stuck, locked by ${worker}, which is not responding: no heartbeat for ${heartbeatAge}. Unlock that worker so that the queue continues.`;
    case "unknown":
      return `${waits} The queue ${lockAge < STALE_LOCK_MS ? "has been" : "is stuck,"} locked for ${ageText(lockAge)} by ${worker}, which sends no heartbeats: check that it is still running.${oldLock(lockAge)}`;
    default:
      return holder.state satisfies never;
  }
}

const CLEANED_UP = "was deleted by a cleanup while the job was being added";

function lostSentence({ job, schema }: CauseFacts): string {
  if (job.task === null) {
    return `Cannot run: the name of its task ${CLEANED_UP}. Fail or complete it, and add it again.`;
  }
  return `Cannot run: the row of its queue ${CLEANED_UP}. Workers repair this within 10 minutes; "${recoverQueues(schema)}" repairs it at once.`;
}

function retryingSentence({ job, sameError }: CauseFacts): string {
  const at = `in ${ageText(job.runAtMs - job.nowMs)}, at ${momentText(job.runAtMs)}`;
  const when = job.isNever ? "Never runs: its time is infinity." : `Next attempt due ${at}.`;
  const attempts = `${earlyDeadline(job)}${numberText(job.attempts)} of ${countText(job.maxAttempts, "attempt")}`;
  // Without a stored error, the attempts may not have failed: the job may have been unlocked during an attempt.
  if (job.errorStart === null)
    return `${when} ${attempts} ${job.attempts === 1 ? "is" : "are"} used up.`;
  return `${when} ${attempts} failed; last failure ${failedAgo(job)}.${sameWay(sameError)}`;
}

function scheduledSentence({ job, coverage }: CauseFacts): string {
  const at = `Due in ${ageText(job.runAtMs - job.nowMs)}, at ${momentText(job.runAtMs)}.`;
  const when = job.isNever ? "Never due: its time is infinity." : at;
  const unsupported = isUnsupported(coverage, job.task)
    ? ` No live worker supports its task ${shortName(job.task)}.`
    : "";
  return `${when}${unsupported} ${earlyDeadline(job)}`.trimEnd();
}

const earlyDeadline = ({ deadlineMs, runAtMs }: WhyFacts): string =>
  deadlineMs === null || deadlineMs >= runAtMs
    ? ""
    : `Its deadline at ${momentText(deadlineMs)} is before that, so the job will fail without running. `;

function readySentence(facts: CauseFacts): string {
  const { job, coverage, place, hasWorkers, pause, limit } = facts;
  if (facts.cancellation !== null && coverage.runner === null) return toCancel(facts).trimEnd();
  if (coverage.runner !== null) {
    return `${toCancel(facts)}Running on ${byWorker(coverage.runner)}.`;
  }
  if (pause !== null) return `${pausedSubject(pause)}.`;
  if (isUnsupported(coverage, job.task)) {
    return `No live worker supports its task ${shortName(job.task)}: it waits until one does.`;
  }
  if (facts.lockRefusal !== null) return `${facts.lockRefusal.text}: ${facts.lockRefusal.error}.`;
  if (limit !== null) return `Waits for a limit. L${limitedText(limit).slice(1)}.`;
  const ahead = place?.ahead;
  const first =
    ahead === undefined || ahead.value === 0
      ? "Waits for a free worker"
      : `Due; ${countText(ahead, "job is", "jobs are")} ahead of it`;
  if (!hasWorkers) return `${first}; whether a worker is alive is unknown.`;
  return coverage.alive === 0 ? `${first}, but no worker with heartbeats is alive.` : `${first}.`;
}

/** `value`: the number of jobs with the error, including this job; null: unknown. */
function sameWay(value: Value | null): string {
  if (value === null) return "";
  const others = value.precision === "exact" ? { ...value, value: value.value - 1 } : value;
  if (others.value < 1) return "";
  return ` ${countText(others, "other job has", "other jobs have")} this error.`;
}
