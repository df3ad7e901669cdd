// How jobs and named queues are locked and let go: the columns that say who has them.

/** Sets the lock. `workerId`: the parameter with the worker's id, as `$1`. */
export const lockBy = (workerId: string): string =>
  `locked_by = ${workerId}::text, locked_at = pg_catalog.now()`;

/**
 * The id of the worker that has locked a row of jobs or queues: of the table's text, which may be as long as
 * PostgreSQL takes, as much as ids of ours can have.
 */
export const lockHolder = (row: string): string => `pg_catalog.left(${row}.locked_by, 1024)`;

/** Lets go. */
export const UNLOCK = "locked_by = null, locked_at = null";

/**
 * Takes a job: an attempt counts from here on, before it runs, or a job that kills its worker would
 * never use its attempts up. `job`: the alias of the row.
 */
export const takeBy = (workerId: string, job: string): string =>
  `attempts = ${job}.attempts + 1, ${lockBy(workerId)}`;

/** Lets go of the named queues for which `condition` holds: an update for a common table expression. */
export const unlockQueues = (s: string, condition: string): string =>
  `update ${s}._private_job_queues set ${UNLOCK} where ${condition}`;

/** A condition: no worker has the job `jobs`. A lock that is 4 hours old belongs to a dead one. */
export const isFree =
  "(jobs.locked_at is null or jobs.locked_at < pg_catalog.now() - interval '4 hours')";
