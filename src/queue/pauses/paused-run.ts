// If a named queue without a limit is paused during a run of the queue, the lock of the pause also contains the id of
// the run's worker: `locked_by` is `paused:<reason>`, a line break and the id. A worker of this library removes its id
// when the run ends.
import {
  isLockedByWorker,
  isPausedQueue,
  isPseudoLock,
  PAUSED,
  queueHolder,
  queueLockedAt,
} from "../sql/lock.ts";

const BREAK = "pg_catalog.chr(10)";

/** Returns an SQL expression: the `locked_by` of a paused queue that has no run. `reason`: an SQL expression. */
export const pausedBy = (reason: string): string =>
  `'${PAUSED}' || pg_catalog.translate(${reason}, ${BREAK}, ' ')`;

/**
 * Returns an SQL expression: the id of the worker whose run of a paused queue began before the pause; null if there is
 * no such run. `queue`: the alias of the queue's row.
 */
export const pausedRun = (queue: string): string =>
  `case when ${isPausedQueue(queue)} then
      pg_catalog.substr(${queue}.locked_by, nullif(pg_catalog.strpos(${queue}.locked_by, ${BREAK}), 0) + 1) end`;

/** SQL expressions: what lists show of a queue's lock. */
export interface ShownLock {
  readonly isPaused: string;
  readonly isLocked: string;
  readonly holder: string;
  readonly lockedAt: string;
}

/**
 * Returns a queue's ShownLock. The `locked_at` of a paused queue is infinity until the pause ends. If an earlier run
 * outlasts the pause, the queue is then shown as locked by the run's worker.
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

/** Returns the assignments that pause a queue, for the `on conflict` of an insert. */
export const pauseOver = (queue: string): string =>
  `locked_by = excluded.locked_by || coalesce(${BREAK} || coalesce(${pausedRun(queue)},
      case when not ${isPseudoLock(queue)} then ${queue}.locked_by end), ''), locked_at = excluded.locked_at`;

/**
 * Returns an update, for a common table expression, that ends a worker's runs of the queues for which `condition`
 * holds. The update unlocks a queue, or removes the worker's id from the lock of a pause.
 */
export const endRuns = (s: string, condition: string, worker: string): string =>
  `update ${s}._private_job_queues as queues
  set locked_at = case when queues.locked_by <> ${worker}::text then queues.locked_at end,
    locked_by = case when queues.locked_by <> ${worker}::text then pg_catalog.split_part(queues.locked_by, ${BREAK}, 1) end
  where ${condition} and (queues.locked_by = ${worker}::text or ${pausedRun("queues")} = ${worker}::text)`;
