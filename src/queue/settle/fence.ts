// Parts of the statements that write the result of a job. Such a statement changes the job only if the
// job's row shows no lock of another attempt, so a worker whose lease has expired cannot finish a job that another
// worker has fetched. There are two modes of locks:
//   locked_by   The safe mode, and kept jobs of the fast mode. The job's row has the worker's id in locked_by, and the
//               attempt is already counted in the row.
//   row         The fast mode. The transaction that writes the result has locked the row since the fetch. The row's
//               locked_by is null, and the attempt is not counted yet. If the connection is lost, the row is unlocked,
//               and a later transaction writes the result. If locked_by is set by then, another attempt has locked the
//               job, even if locked_by has this worker's id: the worker's safe mode may have fetched the job.
import { SKIPPED } from "../../database/skipped-rows.ts";

export type LockMode = "locked_by" | "row";

/** Returns the SQL condition that no other attempt has locked a job since. `job`: the alias of the job's row. */
export function isOurs(mode: LockMode, job: string, workerId: string): string {
  return mode === "locked_by" ? `${job}.locked_by = ${workerId}::text` : `${job}.locked_by is null`;
}

/** Returns an SQL expression: the number of the job's attempts, including the attempt that has just ended. */
export function attemptsMade(mode: LockMode, job: string): string {
  return mode === "locked_by" ? `${job}.attempts` : `${job}.attempts + 1`;
}

export interface FencedWrite {
  readonly schema: string;
  readonly mode: LockMode;
  /** The parameter with the ids of the jobs. */
  readonly ids: string;
  /** The parameter with the worker's id, which only the mode `locked_by` uses. */
  readonly workerId: string;
  /** The name of the common table expression that returns the written rows. */
  readonly by: string;
}

/**
 * Returns an SQL expression for a select list: the ids of the jobs that were not written, as `{1,2}`; null if all jobs
 * were written. If the worker still holds the lock on a job that was not written, a trigger or a row security policy
 * has skipped the job's row. The expression then raises an error (skipped-rows.ts), so the statement writes nothing.
 */
export const lostIds = ({ schema, mode, ids, workerId, by }: FencedWrite): string =>
  `case when (select pg_catalog.count(*) from ${by}) < pg_catalog.cardinality(${ids}::bigint[]) then
    case when case when exists (
        select from ${schema}._private_jobs j where j.id = any(${ids}::bigint[]) and ${isOurs(mode, "j", workerId)}
        and j.id not in (select id from ${by})
      ) then '${SKIPPED}'::text else '0'::text end::int = 0 then
    array(select pg_catalog.unnest(${ids}::bigint[]) except select id from ${by})::text end end as lost`;

export interface LostIds {
  readonly lost: string | null;
}
