// If a queue is paused while one of its jobs runs, the queue's lock also names the worker of that job:
// `paused:<reason>`, a line break, the worker's id. The end of that run removes the id. So the end of a pause can start
// the next job without searching the jobs for a running one.
import {
  isLockedByWorker,
  isPausedQueue,
  isPseudoLock,
  PAUSED,
  queueHolder,
  queueLockedAt,
} from "../sql/lock.ts";

const BREAK = "pg_catalog.chr(10)";

/** Returns an expression: the lock of a pause, without a run. */
export const pausedBy = (reason: string): string =>
  `'${PAUSED}' || pg_catalog.translate(${reason}, ${BREAK}, ' ')`;

/** Returns an expression: the worker whose run of a queue began before its pause, and continues; null: none. */
export const pausedRun = (queue: string): string =>
  `case when ${isPausedQueue(queue)} then
      pg_catalog.substr(${queue}.locked_by, nullif(pg_catalog.strpos(${queue}.locked_by, ${BREAK}), 0) + 1) end`;

/** Expressions on a row of queues for lists: whether it is paused or locked, by which worker, and since when. */
export interface ShownLock {
  readonly isPaused: string;
  readonly isLocked: string;
  readonly holder: string;
  readonly lockedAt: string;
}

/**
 * Returns what lists show of a queue's lock. The time of a pause's lock is infinity until the pause ends. From then on
 * the queue is shown as locked by the worker whose run began before the pause, and still continues.
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

/** Returns the assignments for an `on conflict` that pause a queue: its new lock names the worker of the run. */
export const pauseOver = (queue: string): string =>
  `locked_by = excluded.locked_by || coalesce(${BREAK} || coalesce(${pausedRun(queue)},
      case when not ${isPseudoLock(queue)} then ${queue}.locked_by end), ''), locked_at = excluded.locked_at`;

/**
 * Returns an update, for a common table expression. It ends the worker's runs of queues for which `condition` holds.
 */
export const endRuns = (s: string, condition: string, worker: string): string =>
  `update ${s}._private_job_queues as queues
  set locked_at = case when queues.locked_by <> ${worker}::text then queues.locked_at end,
    locked_by = case when queues.locked_by <> ${worker}::text then pg_catalog.split_part(queues.locked_by, ${BREAK}, 1) end
  where ${condition} and (queues.locked_by = ${worker}::text or ${pausedRun("queues")} = ${worker}::text)`;
