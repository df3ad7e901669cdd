// A cause is one element of the chain of reasons why a job does not run (causes.ts). The root is the last cause with
// `isRoot`.
import { isPoison, lostAttempts } from "../read/lost-attempts.ts";
import type { Fix } from "./fix.ts";
import type { WhyFacts } from "./job-facts.ts";

export type CauseKind =
  | "queue_locked"
  /** The queue is locked by another job, `links.job`. */
  | "locked_by_job"
  /** The job's queue, its task or everything is paused. */
  | "paused"
  /** A limit of the job's task or queue allows no further start now. */
  | "limited"
  /** The cancellation of the job was requested, and the job has not ended. */
  | "cancelling"
  | "holder_alive"
  | "holder_stale"
  /** No heartbeat row was found for the worker that holds the lock. */
  | "holder_unknown"
  | "not_due"
  | "no_worker_for_task"
  /** The row of the job's queue, or of its task, was deleted. */
  | "queue_deleted"
  | "task_deleted"
  | "behind"
  /** A worker reports that PostgreSQL refused to lock the job or its queue. */
  | "lock_refused"
  | "exhausted"
  | "crashes_workers";

export interface Cause {
  readonly kind: CauseKind;
  readonly text: string;
  /** A second, less prominent line. */
  readonly detail: string | null;
  readonly isRoot: boolean;
  /** Whether the cause is a fault that needs a repair or a recovery. */
  readonly isBroken: boolean;
  readonly links: Links;
  /** The action that is offered against the cause; null: none. */
  readonly fix: Fix | null;
}

/** What a cause refers to: the full names of a queue and a worker, and the id of another job. */
export interface Links {
  readonly queue: string | null;
  readonly worker: string | null;
  readonly job: string | null;
}

export function cause(
  kind: CauseKind,
  text: string,
  more: Partial<Omit<Cause, "kind" | "text" | "links">> & { readonly links?: Partial<Links> } = {},
): Cause {
  const { detail = null, isRoot = false, isBroken = false, fix = null, links } = more;
  return {
    kind,
    text,
    detail,
    isRoot,
    isBroken,
    links: { queue: null, worker: null, job: null, ...links },
    fix,
  };
}

/** Returns a cause if at least the last two attempts of the job were lost: their workers crashed or became stale. */
export function crashCauses(job: WhyFacts, offersFix = false): Cause[] {
  const attempted = { ...job, isLocked: job.lockedMs !== null };
  const lost = lostAttempts(attempted);
  if (lost < 2) return [];
  // Another job that ran at the time may have crashed the workers, so the text does not call this job the cause.
  const text = `Its last ${lost} attempts ended when their workers crashed`;
  if (!offersFix || !crashesWorkers(job)) return [cause("crashes_workers", text)];
  return [cause("crashes_workers", text, { isRoot: true, isBroken: true, fix: stopRetrying(job) })];
}

/** Whether the job would probably crash another worker, by the rule of isPoison(). */
export const crashesWorkers = (job: WhyFacts): boolean =>
  isPoison({ ...job, isLocked: job.lockedMs !== null });

/** Returns the fix that prevents further attempts; null if the job has no attempts left. */
export const stopRetrying = ({ id, attempts, maxAttempts }: WhyFacts): Fix | null =>
  attempts < maxAttempts
    ? { action: "stop-retrying", label: "Stop retrying…", jobIds: [id] }
    : null;
