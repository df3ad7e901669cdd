// Jobs that a batch of an operation could not change, because another transaction had locked, changed or deleted their
// rows. The batch's snapshot cannot show the reason, so the batch counts all these jobs as locked. Then checkAgain()
// reads the jobs again, and noteMissed() corrects the counts.
import { type Database, query, type Statement } from "../../../database/database.ts";
import type { JobQuery } from "../../../insight/query/job-query.ts";
import type { Stretch } from "../model/operation-store.ts";

export interface MissedJobs {
  /** Jobs that a worker has locked, and jobs whose row another transaction had locked during the batch. */
  readonly locked: readonly string[];
  /** Jobs that were changed after the rehearsal, or no longer match the query. */
  readonly changed: readonly string[];
  readonly gone: readonly string[];
}

/** Returns the ids in PostgreSQL's text of an array, such as `{1,2}`. */
export const idsIn = (text = "{}"): string[] => (text === "{}" ? [] : text.slice(1, -1).split(","));

/**
 * Returns a condition: `time` is after `before`, or is one of `openSince`, the start times of the transactions that
 * were open at `before`. The time of a change is the start time of its transaction, so a change that was committed
 * after `before` can have an earlier time.
 */
export const isSince = (time: string, before: string, openSince: string): string =>
  `(${time} > ${before} or ${time} = any(${openSince}))`;

export async function checkAgain(
  db: Database,
  jobs: JobQuery,
  { before, openSince }: Stretch,
  ids: readonly string[],
): Promise<MissedJobs> {
  type Row = { id: string; outcome: keyof MissedJobs };
  const rows = await query<Row>(db, checkSql(jobs), [ids, before, openSince, ...jobs.values]);
  const of = (outcome: keyof MissedJobs) =>
    rows.filter((row) => row.outcome === outcome).map(({ id }) => id);
  return { locked: of("locked"), changed: of("changed"), gone: of("gone") };
}

const checkSql =
  (jobs: JobQuery): Statement =>
  (s) =>
    `
  select missed.id,
    case
      when jobs.id is null then 'gone'
      when jobs.locked_at is not null then 'locked'
      when ${isSince("jobs.updated_at", "$2::timestamptz", "$3::timestamptz[]")} or ${jobs.sql(4)} is not true then 'changed'
      else 'locked'
    end as outcome
  from pg_catalog.unnest($1::bigint[]) as missed (id)
  left join ${s}._private_jobs as jobs on jobs.id = missed.id
  order by missed.id`;

/** Corrects the operation's counts and receipt. */
export async function noteMissed(
  db: Database,
  operationId: string,
  { changed, gone }: MissedJobs,
): Promise<void> {
  if (changed.length + gone.length > 0) await query(db, noteSql, [operationId, changed, gone]);
}

const noteSql: Statement = (s) => `
  with noted as (
    update ${s}._private_operation_rows
    set outcome = case when job_id = any($2::bigint[]) then 'c' else 'g' end::"char"
    where operation_id = $1::bigint and job_id = any(pg_catalog.array_cat($2::bigint[], $3::bigint[]))
    and outcome = 'l'
  )
  update ${s}._private_operations
  set
    skipped_locked = skipped_locked - pg_catalog.cardinality($2::bigint[]) - pg_catalog.cardinality($3::bigint[]),
    skipped_changed = skipped_changed + pg_catalog.cardinality($2::bigint[]),
    skipped_gone = skipped_gone + pg_catalog.cardinality($3::bigint[])
  where id = $1::bigint`;
