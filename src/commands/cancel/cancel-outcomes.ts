// Reads the outcomes of jobs whose cancellation was requested.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isCancelled } from "../../domain/words.ts";

/** The outcome of a job whose cancellation was requested. */
export type CancelOutcome =
  /** The job has failed as cancelled. */
  | "cancelled"
  /** The job no longer exists: its task returned, or the job was deleted. */
  | "completed"
  /** The job has failed with another error. */
  | "failed"
  /** The job still runs or waits, or the request is still stored. */
  | "running";

export interface CancelResult {
  readonly id: string;
  readonly outcome: CancelOutcome;
}

interface OutcomeRow {
  readonly id: string;
  readonly is_there: boolean;
  readonly is_over: boolean;
  readonly error: string | null;
}

/** Returns the present outcome of each job, in the order of the ids. */
export async function cancelOutcomes(
  db: Database,
  ids: readonly string[],
): Promise<CancelResult[]> {
  const rows = await query<OutcomeRow>(db, outcomesSql, [ids]);
  return rows.map(({ id, is_there: isThere, is_over: isOver, error }) => {
    if (!isThere) return { id, outcome: "completed" };
    if (!isOver) return { id, outcome: "running" };
    return { id, outcome: isCancelled(error ?? "") ? "cancelled" : "failed" };
  });
}

// A job that is not locked counts as running while the request is stored, because endCancellations() may replace the
// job's error.
const outcomesSql: Statement = (s) => `
select requested.id::text as id, jobs.id is not null as is_there,
  coalesce(jobs.locked_at is null and jobs.attempts >= jobs.max_attempts, false)
    and not exists (select from ${s}._private_cancellations as requests where requests.job_id = jobs.id) as is_over,
  pg_catalog.left(jobs.last_error, 20) as error
from pg_catalog.unnest($1::bigint[]) with ordinality as requested (id, place)
left join ${s}._private_jobs as jobs on jobs.id = requested.id
order by requested.place`;
