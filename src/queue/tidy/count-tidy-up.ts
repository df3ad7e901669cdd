// What each tidy-up would find: jobs that failed for good, tasks and queues without a job. Exact where
// the table is small or an index leads there, else from a sample of its pages. No statement reads more.
import { type Database, query, type Statement } from "../../database/database.ts";
import { indexCondition } from "../../database/schema/indexes/optional-index.ts";
import { usableIndexes } from "../../database/schema/indexes/usable-indexes.ts";
import { estimated, exact, type Value } from "../../domain/value.ts";

/** By the names of cleanup's tasks. */
export interface TidyUpCounts {
  readonly "delete-permanently-failed-jobs": Value;
  readonly "gc-task-identifiers": Value;
  readonly "gc-job-queues": Value;
}

// Some 220,000 small jobs: one pass takes 60 ms.
const SMALL_PAGES = 4_096;
const SAMPLED_PAGES = 2_000;
// As many as an index is asked for.
const CAP = 10_001;
// 95 % of all samples are no further off than so many standard errors.
const DEVIATIONS = 1.96;

export async function countTidyUp(db: Database, asOf: string): Promise<TidyUpCounts> {
  const [table] = await query<{ pages: number }>(db, pagesSql, [
    `${db.schema.quoted}._private_jobs`,
  ]);
  const pages = table?.pages ?? 0;
  const indexes = await usableIndexes(db);
  const isSmall = pages <= SMALL_PAGES;
  const percent = Math.min(100, (SAMPLED_PAGES / Math.max(pages, 1)) * 100);
  const seen = isSmall ? null : await readSample(db, percent);
  const unused = async (statement: Statement, isIndexed: boolean, unseen: number | undefined) => {
    if (unseen === undefined || isIndexed) return exact(await count(db, statement), "scan", asOf);
    // Whoever has a job that was not drawn is not unused: all that is known is how many at most.
    return estimated(unseen / 2, unseen / 2, "sample", asOf);
  };
  return {
    "delete-permanently-failed-jobs": await countFailed(db, {
      ...{ asOf, pages, seen, isIndexed: indexes.has("failed") },
    }),
    "gc-task-identifiers": await unused(unusedTasksSql, indexes.has("task"), seen?.unseenTasks),
    "gc-job-queues": await unused(unusedQueuesSql, indexes.has("queue"), seen?.unseenQueues),
  };
}

async function countFailed(
  db: Database,
  state: { asOf: string; pages: number; seen: Sample | null; isIndexed: boolean },
): Promise<Value> {
  const { asOf, pages, seen, isIndexed } = state;
  if (seen === null) return exact(await count(db, failedSql, [null]), "scan", asOf);
  const found = isIndexed ? await count(db, failedSql, [CAP]) : 0;
  if (isIndexed && found < CAP) return exact(found, "probe", asOf);
  const { drawn, failed, squares } = seen;
  // Nothing drawn is not nothing there: some three pages' worth may be missed.
  if (drawn < 2 || failed === 0)
    return estimated(0, (3 * pages) / Math.max(drawn, 1), "sample", asOf);
  // Over the pages, not over the jobs: those of one page are alike where many were added at once.
  const variance = (squares - failed ** 2 / drawn) / (drawn - 1) / drawn;
  const margin = DEVIATIONS * pages * Math.sqrt(Math.max(0, variance * (1 - drawn / pages)));
  return estimated((pages * failed) / drawn, margin, "sample", asOf, found);
}

interface Sample {
  /** Pages. */
  readonly drawn: number;
  readonly failed: number;
  /** The sum of the squares of each page's failed jobs. */
  readonly squares: number;
  readonly unseenTasks: number;
  readonly unseenQueues: number;
}

async function readSample(db: Database, percent: number): Promise<Sample> {
  const [row] = await query<{
    readonly drawn: number;
    readonly failed: number;
    readonly squares: number;
    readonly tasks: number;
    readonly queues: number;
  }>(db, sampleSql, [percent]);
  const { drawn = 0, failed = 0, squares = 0, tasks = 0, queues = 0 } = row ?? {};
  return { drawn, failed, squares, unseenTasks: tasks, unseenQueues: queues };
}

async function count(db: Database, statement: Statement, values: unknown[] = []): Promise<number> {
  const [row] = await query<{ count: string }>(db, statement, values);
  return Number(row?.count ?? 0);
}

const pagesSql: Statement = () =>
  "select (pg_relation_size($1::text::regclass) / current_setting('block_size')::int)::int as pages";

// $1: count no further, or null.
const failedSql: Statement = (schema) => `
  select count(*) as count from (
    select from ${schema}._private_jobs as jobs
    where ${indexCondition("failed", "jobs")}
    limit $1::bigint
  ) as few`;

const sampleSql: Statement = (schema) => `
  with drawn as materialized (
    select (ctid::text::point)[0]::int as page, task_id, job_queue_id,
      ${indexCondition("failed", "jobs")} as is_failed
    from ${schema}._private_jobs as jobs tablesample system ($1::float4)
  ), pages as (
    select count(*) filter (where is_failed) as failed from drawn group by page
  )
  select
    count(*)::int as drawn,
    coalesce(sum(failed), 0)::float8 as failed,
    coalesce(sum(failed * failed), 0)::float8 as squares,
    (
      select count(*) from ${schema}._private_tasks
      where id not in (select task_id from drawn)
    )::int as tasks,
    (
      select count(*) from ${schema}._private_job_queues
      where locked_at is null
      and id not in (select job_queue_id from drawn where job_queue_id is not null)
    )::int as queues
  from pages`;

const unusedTasksSql: Statement = (schema) => `
  select count(*) as count from ${schema}._private_tasks as tasks
  where not exists (select from ${schema}._private_jobs as jobs where jobs.task_id = tasks.id)`;

const unusedQueuesSql: Statement = (schema) => `
  select count(*) as count from ${schema}._private_job_queues as queues
  where queues.locked_at is null
  and not exists (select from ${schema}._private_jobs as jobs where jobs.job_queue_id = queues.id)`;
