// How jobs and named queues are locked and unlocked.

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
