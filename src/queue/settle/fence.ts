// The lock under which a worker has a job, and its consequences for the statements that end the job. A
// result only counts while the worker still has the lock: a worker that lost its lease cannot finish a job
// that another one has taken, and learns which jobs those are.
//
//   locked_by   the safe mode: the row has the worker's id, and the attempt was counted when it was taken.
//   row         the fast mode: the transaction that writes the result has the row locked, the row itself
//               has no id, and the attempt is not counted yet. If the connection was lost, the row was free
//               in between: a locked_by then belongs to another attempt, even if it is this worker's own id,
//               because its safe mode has taken the job.
import { SKIPPED } from "../../database/skipped-rows.ts";

export type LockMode = "locked_by" | "row";

/** A condition: the worker has the job. `workerId`: the parameter with its id, for `locked_by` only. */
export function isOurs(mode: LockMode, job: string, workerId: string): string {
  return mode === "locked_by" ? `${job}.locked_by = ${workerId}::text` : `${job}.locked_by is null`;
}

/** The job's attempts, including the one that has just ended. */
export function attemptsMade(mode: LockMode, job: string): string {
  return mode === "locked_by" ? `${job}.attempts` : `${job}.attempts + 1`;
}

/** The rows that a statement should have written, and those that it wrote. */
export interface Written {
  readonly schema: string;
  readonly mode: LockMode;
  /** The parameters with the ids, and with the worker's id for `locked_by`. */
  readonly ids: string;
  readonly workerId: string;
  /** The expression with the written rows. */
  readonly by: string;
}

/**
 * For a select list: the ids that were not written, as `{1,2}`, or null if all were, which costs no more
 * than counting. If the worker still has one of these jobs, a trigger skipped its row: the statement is
 * undone.
 */
export const lostIds = ({ schema, mode, ids, workerId, by }: Written): string =>
  `case when (select pg_catalog.count(*) from ${by}) < pg_catalog.cardinality(${ids}::bigint[]) then
    case when case when exists (
        select from ${schema}._private_jobs j where j.id = any(${ids}::bigint[]) and ${isOurs(mode, "j", workerId)}
        and j.id not in (select id from ${by})
      ) then '${SKIPPED}'::text else '0'::text end::int = 0 then
    array(select pg_catalog.unnest(${ids}::bigint[]) except select id from ${by})::text end end as lost`;

export interface LostIds {
  readonly lost: string | null;
}
