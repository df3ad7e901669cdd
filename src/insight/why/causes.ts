// Determines the chain of causes that keep a job from running. The main chains:
//
//   blocked job ─▶ its queue is locked ─▶ by a job ─▶ whose worker is alive | not responding | unknown
//   fetched or running job ─▶ its worker is alive | not responding | unknown
//   other job ─▶ not due | failed | paused | a limit | queue or task was deleted | unsupported task | jobs ahead of it

import { limitText } from "../../domain/limits/limit-text.ts";
import { ageText } from "../../domain/portable/ages.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";
import type { Value } from "../../domain/value.ts";
import {
  countText,
  momentText,
  numberText,
  ordinal,
  shortName,
  valueText,
  workerNamed,
} from "../../domain/words.ts";
import type { Cancellation } from "../../queue/cancel/cancellations.ts";
import { STALE_LOCK_MS } from "../../queue/workers/reset-stale-locks.ts";
import { beingCancelled } from "../controls/being-cancelled.ts";
import type { Pause } from "../controls/list-pauses.ts";
import { pausedSubject } from "../controls/pause-text.ts";
import { type LimitOfJob, limitedText } from "../limits/limit-of-job.ts";
import { type Cause, cause, crashCauses, crashesWorkers, stopRetrying } from "./cause.ts";
import { type Holder, isUnreportedBy, type LockRefusal } from "./holders.ts";
import type { HoldingJob } from "./holding-job.ts";
import { deadlineText, lastAttemptText, spentText, type WhyFacts } from "./job-facts.ts";
import type { QueuePlace } from "./queue-place.ts";
import type { TaskCoverage } from "./task-coverage.ts";

export interface CauseFacts {
  /** The job's schema. */
  readonly schema: string;
  readonly job: WhyFacts;
  /** The worker that has locked the job or, if the job is blocked, its queue; null: no lock names a worker. */
  readonly holder: Holder | null;
  readonly holdingJob: HoldingJob | null;
  /** The number of fetched jobs of the queue that start before this job; null: unknown, or this job is not fetched. */
  readonly fetchedBefore: number | null;
  /** The pause of everything, of the job's task or of its queue; null: none. */
  readonly pause: Pause | null;
  /** The limit that keeps this due or fetched job from starting now; null: none. */
  readonly limit: LimitOfJob | null;
  /** The request to cancel this job; null: none. */
  readonly cancellation: Cancellation | null;
  readonly lockRefusal: LockRefusal | null;
  readonly place: QueuePlace | null;
  readonly coverage: TaskCoverage;
  readonly hasWorkers: boolean;
  /** The number of jobs with the same error, including this one; null if unknown. */
  readonly sameError: Value | null;
}

/** Returns the chain of causes; empty if nothing is known to keep the job from running. */
export function causesOf(facts: CauseFacts): Cause[] {
  const { job } = facts;
  switch (job.condition) {
    case "fetched":
    case "running":
      return [
        ...cancelCauses(facts),
        ...crashCauses(job, true),
        ...holderCauses(facts, job.lockedMs),
        ...limitCauses(facts),
      ];
    case "failed":
      return exhaustedCauses(facts);
    case "blocked":
      return [...pauseCauses(facts), ...queueCauses(facts), ...noWorker(facts, false)];
    case "retrying":
    case "scheduled":
    case "ready":
      if (isLost(job)) return lostNames(facts);
      return job.isDue
        ? [
            ...cancelCauses(facts),
            ...crashCauses(job, true),
            ...dueCauses(facts),
            ...pauseCauses(facts),
          ]
        : [...crashCauses(job), notDue(facts), ...pauseCauses(facts), ...noWorker(facts, false)];
    default:
      return job.condition satisfies never;
  }
}

/** Whether the row of the job's task or queue was deleted, so that no worker fetches the job. */
export const isLost = ({ task, isQueueLost }: WhyFacts): boolean => task === null || isQueueLost;

/** Returns the command that restores the deleted rows of queues. */
export const recoverQueues = (schema: string): string =>
  workerLine(schema, "worker cleanup --task gc-job-queues");

const broken = { isRoot: true, isBroken: true };

function lostNames({ job, schema }: CauseFacts): Cause[] {
  if (job.task === null) {
    const fix = { action: "fail" as const, label: "Fail job…", jobIds: [job.id] };
    return [cause("task_deleted", "The name of its task was deleted", { ...broken, fix })];
  }
  const detail = `"${recoverQueues(schema)}" restores the queue's row`;
  return [cause("queue_deleted", "The row of its queue was deleted", { ...broken, detail })];
}

const cancelCauses = ({ cancellation }: CauseFacts): Cause[] =>
  cancellation === null ? [] : [cause("cancelling", `It is ${beingCancelled(cancellation)}`)];

function pauseCauses({ pause, job }: CauseFacts): Cause[] {
  if (pause === null) return [];
  const { scope, name, hasEnded } = pause;
  const fix = hasEnded ? {} : { fix: { action: "resume" as const, label: "Resume…", scope, name } };
  const links = { queue: scope === "queue" ? name : null };
  return [cause("paused", pausedSubject(pause), { isRoot: job.isDue, links, ...fix })];
}

function queueCauses(facts: CauseFacts): Cause[] {
  const { job, place, holdingJob } = facts;
  const name = job.queue?.name ?? "";
  const links = { queue: name };
  const since = `due since ${momentText(waitsSince(job))}`;
  const locked = cause("queue_locked", `This job waits for the queue ${shortName(name)}`, {
    detail: place === null ? since : `${placeText(place)}; ${since}`,
    links,
  });
  const byJob = holdingJob === null ? [] : [lockedByJob(name, holdingJob, job)];
  return [locked, ...byJob, ...holderCauses(facts, job.queue?.lockedMs ?? null)];
}

function lockedByJob(queue: string, holding: HoldingJob, { queue: facts }: WhyFacts): Cause {
  const text = `${shortName(queue)} runs one job at a time and is locked by ${jobText(holding)}`;
  const lockedMs = facts?.lockedMs ?? null;
  const attempt = `attempt ${numberText(holding.attempts)} of ${numberText(holding.maxAttempts)}`;
  return cause("locked_by_job", text, {
    detail: lockedMs === null ? attempt : `locked since ${momentText(lockedMs)}; ${attempt}`,
    links: { queue, job: holding.id },
  });
}

const jobText = ({ id, task }: HoldingJob) =>
  task === null ? `#${id}` : `${shortName(task)} #${id}`;

/** `lockedMs`: when the holder locked the job or its queue; null: unknown. */
function holderCauses(facts: CauseFacts, lockedMs: number | null): Cause[] {
  const { job, holder } = facts;
  if (holder === null) return [];
  const { workerId, state, lastHeartbeatMs, host } = holder;
  const links = { worker: workerId };
  const worker = workerNamed(workerId);
  const lockAge = lockedMs === null ? 0 : job.nowMs - lockedMs;
  const heartbeatAge = lastHeartbeatMs === null ? "" : ageText(job.nowMs - lastHeartbeatMs);
  const label = `Unlock ${worker}…`;
  // The action needs a worker id that is not empty.
  const unlock =
    workerId === "" ? null : { action: "force-unlock" as const, label, workerIds: [workerId] };
  const refused = holder.unsettled.find(({ id }) => id === job.id);
  switch (state) {
    case "alive":
      if (refused !== undefined) {
        const text = `it has ended on ${worker}, and its result is rejected`;
        return [cause("holder_alive", text, { links, detail: refused.error, ...broken })];
      }
      if (job.condition === "fetched") {
        const text = `fetched by ${worker}${behindText(facts)}`;
        const detail = `not started; last heartbeat ${heartbeatAge} ago`;
        const withJob = { ...links, job: facts.holdingJob?.id ?? null };
        return [cause("holder_alive", text, { links: withJob, detail, isRoot: true })];
      }
      if (job.condition === "running" && isUnreportedBy(holder, job.id)) {
        const text = `${worker} has locked it, and its last heartbeat does not list the job yet, so the job counts as running`;
        const detail = `last heartbeat ${heartbeatAge} ago`;
        return [cause("holder_alive", text, { links, detail, isRoot: true })];
      }
      return [
        cause("holder_alive", `${worker} runs it; last heartbeat ${heartbeatAge} ago`, {
          ...{ links, isRoot: true },
        }),
      ];
    case "stale": {
      const at = momentText(lastHeartbeatMs ?? 0);
      const detail = `last heartbeat at ${at}${host === null ? "" : ` from host ${shortName(host)}`}`;
      const text = `${worker} is not responding: no heartbeat for ${heartbeatAge}`;
      return [cause("holder_stale", text, { links, detail, ...broken, fix: unlock })];
    }
    case "unknown": {
      const text = `${worker} has locked it for ${ageText(lockAge)} and sends no heartbeats`;
      const detail = "check that it is still running; a Graphile worker sends none";
      const isBroken = lockAge >= STALE_LOCK_MS;
      const fix = isBroken ? unlock : null;
      return [cause("holder_unknown", text, { links, detail, isRoot: true, isBroken, fix })];
    }
    default:
      return state satisfies never;
  }
}

/** A warning and advice for the retry of a job that crashes its workers. */
export const CRASHES_AGAIN =
  "a retry may crash workers again: repair its task first, or retry it on a worker with a concurrency of 1";

function exhaustedCauses({ job }: CauseFacts): Cause[] {
  const deadline = deadlineText(job);
  if (deadline !== null) {
    const detail = "a retry would fail, too: add the job again if it is still needed";
    return [cause("exhausted", deadline, { ...broken, detail })];
  }
  const last = lastAttemptText(job);
  const text = spentText(job, job.isFailureTimed || crashesWorkers(job));
  if (crashesWorkers(job)) {
    const detail = `${last}; ${CRASHES_AGAIN}`;
    return [...crashCauses(job), cause("exhausted", text, { detail, ...broken })];
  }
  const fix = { action: "retry" as const, label: "Retry…", jobIds: [job.id] };
  return [...crashCauses(job), cause("exhausted", text, { detail: last, ...broken, fix })];
}

function notDue({ job }: CauseFacts): Cause {
  const left = ageText(job.runAtMs - job.nowMs);
  const text = job.isNever
    ? "It is never due: its time is infinity"
    : `It is due in ${left}, at ${momentText(job.runAtMs)}`;
  const detail = job.attempts === 0 ? null : `attempt ${numberText(job.attempts + 1)}`;
  if (crashesWorkers(job))
    return cause("not_due", text, { ...broken, detail, fix: stopRetrying(job) });
  const fix = { action: "run-now" as const, label: "Run now…", jobIds: [job.id] };
  return cause("not_due", text, { isRoot: true, detail, fix });
}

function dueCauses(facts: CauseFacts): Cause[] {
  const { job, place, coverage } = facts;
  if (coverage.runner !== null) {
    const text = `${workerNamed(coverage.runner)} runs it now`;
    return [cause("holder_alive", text, { isRoot: true, links: { worker: coverage.runner } })];
  }
  if (facts.lockRefusal !== null) {
    const { text, error } = facts.lockRefusal;
    return [cause("lock_refused", text, { detail: error, ...broken })];
  }
  const unsupported = noWorker(facts, true);
  if (unsupported.length > 0) return unsupported;
  const limited = limitCauses(facts);
  if (limited.length > 0) return limited;
  if (facts.pause !== null || place === null || place.ahead.value === 0) return [];
  const where = job.queue === null ? "" : ` in ${shortName(job.queue.name)}`;
  const text = `${countText(place.ahead, "job is", "jobs are")} ahead of it${where}`;
  const links = { queue: job.queue?.name ?? null };
  return [cause("behind", text, { isRoot: true, detail: "by priority, then by time", links })];
}

function limitCauses({ limit, job: { queue } }: CauseFacts): Cause[] {
  if (limit === null) return [];
  const links = { queue: limit.definition.scope === "queue" ? (queue?.name ?? null) : null };
  const detail = limitText(limit.definition);
  return [cause("limited", limitedText(limit), { isRoot: true, links, detail })];
}

function noWorker({ job, coverage }: CauseFacts, isRoot: boolean): Cause[] {
  const { task } = job;
  if (!isUnsupported(coverage, task)) return [];
  const former = coverage.formerly.get(task);
  return [
    cause("no_worker_for_task", `No live worker supports the task ${shortName(task)}`, {
      isRoot,
      isBroken: true,
      detail:
        former === undefined
          ? `${countText(coverage.alive, "worker is", "workers are")} alive, and all list their tasks`
          : `${workerNamed(former)} did, but is not responding`,
      links: { worker: former ?? null },
    }),
  ];
}

export function isUnsupported(coverage: TaskCoverage, task: string | null): task is string {
  return task !== null && coverage.isComplete && coverage.unlisted.has(task);
}

const PLACES = ["first", "second", "third"];

/** Returns a fetched job's place behind its queue's running job: `, second behind #22`, `, behind #22` or "". */
export function behindText({ holdingJob, fetchedBefore }: CauseFacts): string {
  if (holdingJob === null) return "";
  if (fetchedBefore === null) return `, behind #${holdingJob.id}`;
  return `, ${PLACES[fetchedBefore] ?? ordinal(fetchedBefore + 1)} behind #${holdingJob.id}`;
}

/** Returns a job's place among due jobs: `3rd of 480`, `3rd` for a job without a queue, or `behind at least 5,000`. */
export function placeText({ ahead, of }: QueuePlace): string {
  const isExact = ahead.precision === "exact";
  const place = isExact ? ordinal(ahead.value + 1) : `behind ${valueText(ahead)}`;
  return of === null ? place : `${place} of ${valueText(of)}`;
}

/** Returns when a job became due, in milliseconds since 1970: the later of its `run_at` and its creation. */
export const waitsSince = ({ runAtMs, createdMs }: WhyFacts): number =>
  Math.max(runAtMs, createdMs);
