// The lock that a worker holds on a job, and what it means for the statements that end the job. A result is written
// only while the worker still holds the lock, so a worker whose lease has expired cannot finish a job that another
// worker has fetched. The statement returns the ids of the jobs whose lock the worker had lost.
//
//   locked_by   the safe mode: the row has the worker's id. The attempt was counted when the job was fetched.
//   row         the fast mode: the transaction that writes the result has locked the row since the fetch. The row's
//               locked_by is null, and the attempt is not counted yet. After a lost connection, the row is unlocked
//               until another transaction writes the result. If locked_by is set then, another attempt has locked
//               the job, even if the id is that of this worker: its safe mode may have fetched the job.
import { SKIPPED } from "../../database/skipped-rows.ts";

export type LockMode = "locked_by" | "row";

/**
 * Returns a condition: the worker still holds the job's lock. `workerId`: the parameter with the worker's id; only the
 * mode `locked_by` uses it.
 */
export function isOurs(mode: LockMode, job: string, workerId: string): string {
  return mode === "locked_by" ? `${job}.locked_by = ${workerId}::text` : `${job}.locked_by is null`;
}

/** Returns an expression: the job's attempts, including the one that has just ended. */
export function attemptsMade(mode: LockMode, job: string): string {
  return mode === "locked_by" ? `${job}.attempts` : `${job}.attempts + 1`;
}

/** The rows that a statement should have written, and the rows that it wrote. */
export interface FencedWrite {
  readonly schema: string;
  readonly mode: LockMode;
  /** The parameter with the ids of the jobs. */
  readonly ids: string;
  /** The parameter with the worker's id; only the mode `locked_by` uses it. */
  readonly workerId: string;
  /** The common table expression with the written rows. */
  readonly by: string;
}

/**
 * Returns an expression for a select list: the ids that were not written, as `{1,2}`; null if as many rows were written
 * as there are ids. If the worker still holds the lock on a job that was not written, a trigger or a policy has
 * skipped the row. Then the expression throws an error (skipped-rows.ts), and so the statement writes nothing.
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
