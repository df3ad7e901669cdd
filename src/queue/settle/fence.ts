// Under which lock a worker has a job, and what follows from it for the statements that end it. What
// a worker says about a job counts only where the job is still its own: a worker that lost its lease
// cannot finish what somebody else has taken, and learns which jobs those were.
//
//   locked_by   the safe mode: the row says who has the job, and the attempt was counted when it was
//               taken.
//   row         the fast mode: the transaction that writes the end has the row locked, the row itself
//               says nothing, and the attempt is not counted yet. Where the connection was lost, the
//               row was free meanwhile: a locked_by then stands for another attempt, even where it is
//               our own id, because our safe mode has taken the job.
import { SKIPPED } from "../../database/skipped-rows.ts";

export type LockMode = "locked_by" | "row";

/** A condition: the job is ours. `workerId`: the parameter with our id, for `locked_by` alone. */
export function isOurs(mode: LockMode, job: string, workerId: string): string {
  return mode === "locked_by" ? `${job}.locked_by = ${workerId}::text` : `${job}.locked_by is null`;
}

/** The job's attempts with the one that has just ended. */
export function attemptsMade(mode: LockMode, job: string): string {
  return mode === "locked_by" ? `${job}.attempts` : `${job}.attempts + 1`;
}

/** What a statement was to write, and what it has written. */
export interface Written {
  readonly schema: string;
  readonly mode: LockMode;
  /** The parameters with the ids, and with our id for `locked_by`. */
  readonly ids: string;
  readonly workerId: string;
  /** The expression that has the rows. */
  readonly by: string;
}

/**
 * For a select list: those ids that have not been written, as `{1,2}`; null where all have been, which costs no
 * more than counting. Where one of these jobs is ours all the same, its row was skipped: the statement is undone.
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
