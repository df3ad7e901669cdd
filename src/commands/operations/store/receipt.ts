// The outcomes of an operation's jobs: changed, skipped, failed again since, and the results of its undo.
import { type Database, query, type Statement } from "../../../database/database.ts";
import { failedAt, wasFailedByHand } from "../../../insight/expressions/failed-at.ts";
import type { CanaryOutcome, Outcome, Receipt } from "../model/operation-store.ts";
import { receiptJobs } from "./receipt-jobs.ts";
import { rowsAfter } from "./rows-after.ts";

/**
 * A condition: the job has failed again. A job that no longer exists has finished; a job that has used another attempt
 * and waits again has failed, unless it was failed by hand.
 */
export const FAILED_AGAIN = (was: string): string => `
  jobs.locked_at is null and jobs.last_error is not null
    and jobs.attempts > ${was}.left_attempts and ${failedAt("jobs")} > ${was}.left_at
    and not ${wasFailedByHand("jobs")}`;

/** A condition: the job was failed or cancelled by hand since, so it is no evidence. */
const FAILED_BY_HAND = `jobs.locked_at is null and jobs.attempts > was.left_attempts and ${wasFailedByHand("jobs")}`;

const canarySql = (s: string) => `
  select
    pg_catalog.count(*) filter (where jobs.id is null)::int as gone,
    pg_catalog.count(*) filter (where ${FAILED_AGAIN("was")})::int as failed_again,
    pg_catalog.count(*) filter (where (${FAILED_BY_HAND}) is not true)::int as total
  from ${s}._private_operation_rows as was
  left join ${s}._private_jobs as jobs on jobs.id = was.job_id
  where was.operation_id = $1::bigint and was.outcome = 'd'`;

export async function canaryOf(db: Database, id: string): Promise<CanaryOutcome> {
  type Row = { gone: number; failed_again: number; total: number };
  const [row] = await query<Row>(db, canarySql, [id]);
  const { gone = 0, failed_again: failed = 0, total = 0 } = row ?? {};
  return { gone, failedAgain: failed, undecided: total - gone - failed };
}

/** A condition for the rows with an outcome; for an undo in progress, only those that it has processed. */
const whichRows: Readonly<Record<Outcome, string>> = {
  done: "was.outcome = 'd'",
  locked: "was.outcome = 'l'",
  changed: "was.outcome = 'c'",
  gone: "was.outcome = 'g'",
  failed_again: "was.outcome = 'd'",
  undone:
    "was.outcome = 'd' and was.undo_outcome is null and was.job_id <= operation.undo_after_id",
  undo_key_taken: "was.undo_outcome = 'k'",
  undo_changed: "was.undo_outcome = 'c'",
  undo_gone: "was.undo_outcome = 'g'",
  undo_locked: "was.undo_outcome = 'l'",
};

// The number of rows that one page reads: of many done jobs, few may have failed again.
const MAX_SCANNED = 5_000;

/** Rows of skipped jobs are few and have their own index. */
const stretch = (outcome: Outcome) =>
  whichRows[outcome].startsWith("was.outcome = 'd'")
    ? rowsAfter("was", "$1::bigint", "$2::bigint")
    : "was.operation_id = $1::bigint and was.job_id > $2::bigint";

const receiptSql =
  (outcome: Outcome): Statement =>
  (s) =>
    `
  select was.job_id as id,
    ${outcome === "failed_again" ? `coalesce(${FAILED_AGAIN("was")}, false)` : "true"} as is_one
  from (
    select was.job_id, was.left_at, was.left_attempts
    from ${s}._private_operation_rows as was
    join ${s}._private_operations as operation on operation.id = was.operation_id
    where ${stretch(outcome)}
    and ${whichRows[outcome]}
    order by was.operation_id, was.job_id
    limit $3::int
  ) as was
  ${outcome === "failed_again" ? `left join ${s}._private_jobs as jobs on jobs.id = was.job_id` : ""}
  order by was.job_id`;

export async function receiptOf(
  db: Database,
  id: string,
  outcome: Outcome,
  afterId: string,
  limit: number,
): Promise<Receipt> {
  const most = outcome === "failed_again" ? MAX_SCANNED : limit + 1;
  type Row = { id: string; is_one: boolean };
  const rows = await query<Row>(db, receiptSql(outcome), [id, afterId, most]);
  const found = rows.filter((row) => row.is_one).map((row) => row.id);
  const ids = found.slice(0, limit);
  const last = rows.length === most ? (rows.at(-1)?.id ?? null) : null;
  const nextCursor = found.length > limit ? (ids.at(-1) ?? null) : last;
  return { jobs: await receiptJobs(db, id, ids), nextCursor };
}
