// If a named queue is paused during a run of the queue, the lock of the pause also contains the id of the run's worker:
// `locked_by` is `paused:<reason>`, a line break and the id. The id is removed when the run ends. So the end of a pause
// can see in the lock whether the run continues, and rarely has to search for running jobs.
import {
  isLockedByWorker,
  isPausedQueue,
  isPseudoLock,
  PAUSED,
  queueHolder,
  queueLockedAt,
} from "../sql/lock.ts";

const BREAK = "pg_catalog.chr(10)";

/** Returns an expression: the `locked_by` of a paused queue without a run. `reason`: an expression. */
export const pausedBy = (reason: string): string =>
  `'${PAUSED}' || pg_catalog.translate(${reason}, ${BREAK}, ' ')`;

/** Returns an expression: the id of the worker whose run of a paused queue began before the pause; null: none. */
export const pausedRun = (queue: string): string =>
  `case when ${isPausedQueue(queue)} then
      pg_catalog.substr(${queue}.locked_by, nullif(pg_catalog.strpos(${queue}.locked_by, ${BREAK}), 0) + 1) end`;

/** Expressions on a row of queues: whether lists show it as paused or locked, by which worker, and since when. */
export interface ShownLock {
  readonly isPaused: string;
  readonly isLocked: string;
  readonly holder: string;
  readonly lockedAt: string;
}

/**
 * Returns what lists show of a queue's lock. `locked_at` of a pause is infinity until the pause ends. From then on,
 * while a run from before the pause continues, the queue is shown as locked by the worker of that run.
 */
export function shownLock(queue: string): ShownLock {
  const run = `pg_catalog.left(${pausedRun(queue)}, 1024)`;
  const hasEnded = `coalesce(${queue}.locked_at < 'infinity'::timestamptz, false) and ${run} is not null`;
  return {
    isPaused: `(${isPausedQueue(queue)} and not (${hasEnded}))`,
    isLocked: `(${isLockedByWorker(queue)} or ${hasEnded})`,
    holder: `case when ${hasEnded} then ${run} else ${queueHolder(queue)} end`,
    lockedAt: `case when ${hasEnded} then ${queue}.locked_at else ${queueLockedAt(queue)} end`,
  };
}

/** Returns the assignments for an `on conflict` that pause a queue. The lock gets the id of a current run's worker. */
export const pauseOver = (queue: string): string =>
  `locked_by = excluded.locked_by || coalesce(${BREAK} || coalesce(${pausedRun(queue)},
      case when not ${isPseudoLock(queue)} then ${queue}.locked_by end), ''), locked_at = excluded.locked_at`;

/**
 * Returns an update that ends runs, for use as a common table expression. Of the queues for which `condition` holds, it
 * unlocks those that the worker has locked, and removes the worker's id from the locks of pauses.
 */
export const endRuns = (s: string, condition: string, worker: string): string =>
  `update ${s}._private_job_queues as queues
  set locked_at = case when queues.locked_by <> ${worker}::text then queues.locked_at end,
    locked_by = case when queues.locked_by <> ${worker}::text then pg_catalog.split_part(queues.locked_by, ${BREAK}, 1) end
  where ${condition} and (queues.locked_by = ${worker}::text or ${pausedRun("queues")} = ${worker}::text)`;
