// What has become of the jobs of an operation: those that it changed, those that it left alone, and of
// the changed ones those that have failed again since.
import { type Database, query } from "../../../database/database.ts";
import type { CanaryOutcome, Outcome, Receipt } from "../model/operation-store.ts";

/** Success is a job that is gone; failure one that has used up a further attempt and waits again. */
const failedAgain = (was: string) => `
  jobs.locked_at is null and jobs.last_error is not null
    and jobs.updated_at > ${was}.left_at and jobs.attempts > ${was}.left_attempts`;

const canarySql = (s: string) => `
  select
    count(*) filter (where jobs.id is null)::int as gone,
    count(*) filter (where ${failedAgain("was")})::int as failed_again,
    count(*)::int as total
  from ${s}._private_operation_rows as was
  left join ${s}._private_jobs as jobs on jobs.id = was.job_id
  where was.operation_id = $1::bigint and was.outcome = 'd'`;

export async function canaryOf(db: Database, id: string): Promise<CanaryOutcome> {
  type Row = { gone: number; failed_again: number; total: number };
  const [row] = await query<Row>(db, canarySql, [id]);
  const { gone = 0, failed_again: failed = 0, total = 0 } = row ?? {};
  return { gone, failedAgain: failed, undecided: total - gone - failed };
}

// As many rows as one page may look at: of done jobs few may have failed again.
const LOOKED_AT = 5_000;

const receiptSql = (s: string) => `
  select was.job_id as id, $2::text <> 'failed_again' or coalesce(${failedAgain("was")}, false) as is_one
  from (
    select job_id, left_at, left_attempts
    from ${s}._private_operation_rows
    where operation_id = $1::bigint and job_id > $3::bigint
    and outcome = case $2::text when 'locked' then 'l' when 'gone' then 'g' else 'd' end::"char"
    order by job_id
    limit $4::int
  ) as was
  left join ${s}._private_jobs as jobs on jobs.id = was.job_id and $2::text = 'failed_again'
  order by was.job_id`;

export async function receiptOf(
  db: Database,
  id: string,
  outcome: Outcome,
  afterId: string,
  limit: number,
): Promise<Receipt> {
  const looked = outcome === "failed_again" ? LOOKED_AT : limit + 1;
  type Row = { id: string; is_one: boolean };
  const rows = await query<Row>(db, receiptSql, [id, outcome, afterId, looked]);
  const found = rows.filter((row) => row.is_one).map((row) => row.id);
  const ids = found.slice(0, limit);
  if (found.length > limit) return { ids, nextCursor: ids.at(-1) ?? null };
  return { ids, nextCursor: rows.length === looked ? (rows.at(-1)?.id ?? null) : null };
}
