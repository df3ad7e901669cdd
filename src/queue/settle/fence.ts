// Parts of the statements that write the result of a job. Such a statement changes a job only if no other worker has
// locked the job. So a worker whose lease has expired cannot finish a job that another worker has fetched. There are
// two modes of locks:
//   locked_by   The safe mode, and kept jobs of the fast mode. The row has the worker's id in locked_by, and the
//               attempt is already counted.
//   row         The fast mode. The transaction of the fetch has locked the row and writes the result. locked_by is
//               null, and the attempt is not counted yet. If the connection is lost, a later transaction writes the
//               result. If locked_by is set by then, even to this worker's id, another attempt has locked the job.
import { SKIPPED } from "../../database/skipped-rows.ts";

export type LockMode = "locked_by" | "row";

/** Returns an SQL condition: no other worker has locked the job. `job`: the alias of the job's row. */
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
  /** The parameter with the worker's id; unused in the mode `row`. */
  readonly workerId: string;
  /** The name of the common table expression that returns the written rows. */
  readonly by: string;
}

/**
 * Returns an SQL expression: the ids of the jobs that were not written, as `{1,2}`; null if all jobs were written.
 * Raises an error if the worker still holds the lock on one of these jobs: a trigger or a row security policy has then
 * skipped the job's row (skipped-rows.ts).
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
