// Reads the receipt of an operation, and the outcome of its canary.
import { type Database, query, type Statement } from "../../../database/database.ts";
import { failedAt, wasFailedByHand } from "../../../insight/expressions/failed-at.ts";
import type { CanaryOutcome, Outcome, Receipt } from "../model/operation-store.ts";
import { receiptJobs } from "./receipt-jobs.ts";
import { rowsAfter } from "./rows-after.ts";

/**
 * Returns a condition: the job (alias `jobs`) has failed again after the operation changed the job. A job that was
 * cancelled, or failed by hand without a reason, does not count. `images`: the alias of the job's stored row.
 */
export const FAILED_AGAIN = (images: string): string => `
  jobs.locked_at is null and jobs.last_error is not null
    and jobs.attempts > ${images}.left_attempts and ${failedAt("jobs")} > ${images}.left_at
    and not ${wasFailedByHand("jobs")}`;

/** After the operation, the job was cancelled, or failed by hand without a reason. */
const FAILED_BY_HAND = `jobs.locked_at is null and jobs.attempts > images.left_attempts and ${wasFailedByHand("jobs")}`;

const canarySql = (s: string) => `
  select
    pg_catalog.count(*) filter (where jobs.id is null)::int as gone,
    pg_catalog.count(*) filter (where ${FAILED_AGAIN("images")})::int as failed_again,
    pg_catalog.count(*) filter (where (${FAILED_BY_HAND}) is not true)::int as total
  from ${s}._private_operation_rows as images
  left join ${s}._private_jobs as jobs on jobs.id = images.job_id
  where images.operation_id = $1::bigint and images.outcome = 'd'`;

export async function canaryOf(db: Database, id: string): Promise<CanaryOutcome> {
  type Row = { gone: number; failed_again: number; total: number };
  const [row] = await query<Row>(db, canarySql, [id]);
  const { gone = 0, failed_again: failed = 0, total = 0 } = row ?? {};
  return { gone, failedAgain: failed, undecided: total - gone - failed };
}

/** For `failed_again`, receiptSql() also tests FAILED_AGAIN. */
const conditions: Readonly<Record<Outcome, string>> = {
  done: "images.outcome = 'd'",
  locked: "images.outcome = 'l'",
  changed: "images.outcome = 'c'",
  gone: "images.outcome = 'g'",
  failed_again: "images.outcome = 'd'",
  undone:
    "images.outcome = 'd' and images.undo_outcome is null and images.job_id <= operation.undo_after_id",
  undo_key_taken: "images.undo_outcome = 'k'",
  undo_changed: "images.undo_outcome = 'c'",
  undo_gone: "images.undo_outcome = 'g'",
  undo_locked: "images.undo_outcome = 'l'",
};

// A page of `failed_again` reads at most this number of changed jobs, so the page can have fewer jobs than requested.
const MAX_SCANNED = 5_000;

/**
 * The rows of skipped jobs have indexes, so a simple condition is fast. For all other rows, only rowsAfter() is fast.
 */
const rowsOfPage = (outcome: Outcome) =>
  conditions[outcome].startsWith("images.outcome = 'd'")
    ? rowsAfter("images", "$1::bigint", "$2::bigint")
    : "images.operation_id = $1::bigint and images.job_id > $2::bigint";

const receiptSql =
  (outcome: Outcome): Statement =>
  (s) =>
    `
  select images.job_id as id,
    ${outcome === "failed_again" ? `coalesce(${FAILED_AGAIN("images")}, false)` : "true"} as has_outcome
  from (
    select images.job_id, images.left_at, images.left_attempts
    from ${s}._private_operation_rows as images
    join ${s}._private_operations as operation on operation.id = images.operation_id
    where ${rowsOfPage(outcome)}
    and ${conditions[outcome]}
    order by images.operation_id, images.job_id
    limit $3::int
  ) as images
  ${outcome === "failed_again" ? `left join ${s}._private_jobs as jobs on jobs.id = images.job_id` : ""}
  order by images.job_id`;

export async function receiptOf(
  db: Database,
  id: string,
  outcome: Outcome,
  afterId: string,
  limit: number,
): Promise<Receipt> {
  const most = outcome === "failed_again" ? MAX_SCANNED : limit + 1;
  type Row = { id: string; has_outcome: boolean };
  const rows = await query<Row>(db, receiptSql(outcome), [id, afterId, most]);
  const found = rows.filter((row) => row.has_outcome).map((row) => row.id);
  const ids = found.slice(0, limit);
  const last = rows.length === most ? (rows.at(-1)?.id ?? null) : null;
  const nextCursor = found.length > limit ? (ids.at(-1) ?? null) : last;
  return { jobs: await receiptJobs(db, id, ids), nextCursor };
}
