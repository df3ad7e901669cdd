// SQL that locks and unlocks jobs and named queues, and that distinguishes the locks of workers, pauses and limits.

/** `workerId`: the placeholder of the worker's id. `at`: the function of pg_catalog that returns the lock's time. */
export const lockBy = (workerId: string, at = "now"): string =>
  `locked_by = ${workerId}::text, locked_at = pg_catalog.${at}()`;

/**
 * Returns an expression: the `locked_by` of a row, cut at the length of the longest worker id that this library allows.
 */
export const lockHolder = (row: string): string => `pg_catalog.left(${row}.locked_by, 1024)`;

export const UNLOCK = "locked_by = null, locked_at = null";

/**
 * Returns the assignments that lock a job and count its attempt. If an attempt counted only at its end, a job that
 * kills its worker would never use up its attempts.
 */
export const takeBy = (workerId: string, job: string, at = "now"): string =>
  `attempts = ${job}.attempts + 1, ${lockBy(workerId, at)}`;

/** A condition on a row `jobs`: the job is not locked, or has been locked for more than 4 hours. */
export const isFree =
  "(jobs.locked_at is null or jobs.locked_at < pg_catalog.now() - interval '4 hours')";

/**
 * The beginning of `locked_by` in the row of a paused queue; the reason of the pause follows. `locked_at` is infinity,
 * so that Graphile workers respect the lock however long the pause lasts.
 */
export const PAUSED = "paused:";

/** The beginning of `locked_by` of a managed queue (slots.ts) that is not paused. A number follows. */
export const MANAGED = "managed:";

/** The beginnings of `locked_by` of queues that a pause or a limit has locked. */
export const PSEUDO_HOLDERS = [PAUSED, MANAGED] as const;

// Only the prefix is decompressed, because another program may have stored a large text.
const prefixOf = (queue: string): string => `pg_catalog.left(${queue}.locked_by, 8)`;

/** Returns a condition on a row of queues: a pause or a limit has locked the queue. */
export const isPseudoLock = (queue: string): string =>
  `coalesce(${prefixOf(queue)} like any (array[${PSEUDO_HOLDERS.map((one) => `'${one}%'`).join(", ")}]), false)`;

export const isPausedQueue = (queue: string): string =>
  `coalesce(${prefixOf(queue)} like '${PAUSED}%', false)`;

/** Returns an expression: the id of the worker that has locked a queue; null if no worker has locked it. */
export const queueHolder = (queue: string): string =>
  `case when not ${isPseudoLock(queue)} then ${lockHolder(queue)} end`;

/** Returns an expression: the time at which a worker locked a queue; null if no worker has locked it. */
export const queueLockedAt = (queue: string): string =>
  `case when not ${isPseudoLock(queue)} then ${queue}.locked_at end`;

export const isLockedByWorker = (queue: string): string =>
  `${queue}.locked_at is not null and not ${isPseudoLock(queue)}`;

/**
 * Returns a condition on a row of queues: a worker or a pause blocks the queue's jobs. The jobs of a managed queue that
 * is not paused do not count as blocked.
 */
export const isBlockedQueue = (queue: string): string =>
  `${queue}.locked_at is not null and not coalesce(${prefixOf(queue)} like '${MANAGED}%', false)`;
