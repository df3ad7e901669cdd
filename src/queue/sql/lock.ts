// How jobs and named queues are locked and unlocked, and which locks are not those of a worker.

/** Sets the lock. `workerId`: the parameter with the worker's id, such as `$1`. */
export const lockBy = (workerId: string): string =>
  `locked_by = ${workerId}::text, locked_at = pg_catalog.now()`;

/**
 * The id of the worker that has locked a row of jobs or queues, cut at the length that this library allows.
 * The column itself has no limit.
 */
export const lockHolder = (row: string): string => `pg_catalog.left(${row}.locked_by, 1024)`;

/** Removes the lock. */
export const UNLOCK = "locked_by = null, locked_at = null";

/**
 * Takes a job. The attempt counts from here on, before the job runs; otherwise a job that kills its worker
 * would never use up its attempts. `job`: the alias of the row.
 */
export const takeBy = (workerId: string, job: string): string =>
  `attempts = ${job}.attempts + 1, ${lockBy(workerId)}`;

/** Unlocks the named queues for which `condition` holds: an update for a common table expression. */
export const unlockQueues = (s: string, condition: string): string =>
  `update ${s}._private_job_queues set ${UNLOCK} where ${condition}`;

/** A condition: no worker has the job `jobs`. A lock older than 4 hours does not count. */
export const isFree =
  "(jobs.locked_at is null or jobs.locked_at < pg_catalog.now() - interval '4 hours')";

/** A paused queue is locked by this and the reason, at infinity: so stock workers do not take its jobs either. */
export const PAUSED = "paused:";

/** The beginnings of ids in `locked_by` of queues that are not workers. */
export const PSEUDO_HOLDERS = [PAUSED, "managed:"] as const;

/** A condition on a row of queues: no worker holds its lock, but a pause or another rule. */
export const isPseudoLock = (queue: string): string =>
  `coalesce(${queue}.locked_by like any (array[${PSEUDO_HOLDERS.map((one) => `'${one}%'`).join(", ")}]), false)`;

/** A condition on a row of queues: it is paused. */
export const isPausedQueue = (queue: string): string =>
  `coalesce(${queue}.locked_by like '${PAUSED}%', false)`;

/** The worker that has locked a queue; null: none. */
export const queueHolder = (queue: string): string =>
  `case when not ${isPseudoLock(queue)} then ${lockHolder(queue)} end`;

/** When a worker has locked a queue; null: none has. */
export const queueLockedAt = (queue: string): string =>
  `case when not ${isPseudoLock(queue)} then ${queue}.locked_at end`;

/** A condition on a row of queues: a worker has locked it. */
export const isLockedByWorker = (queue: string): string =>
  `${queue}.locked_at is not null and not ${isPseudoLock(queue)}`;
