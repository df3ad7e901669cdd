// Counts jobs by condition for each task, queue and holder: in all of a small table, in one chunk of a
// census, which is exact for the moment at which it is read, or on the pages of a sample.
import { type Database, query, type Statement } from "../../database/database.ts";
import { milliseconds } from "../sql/moments.ts";
import type { TallyRow } from "./name-tallies.ts";
import { rowsOfPage } from "./sample-jobs.ts";
import { talliedAs } from "./tally.ts";

/** What is read of a job, on the alias `jobs`. */
const columns = (lockedQueues: string): string => `jobs.task_id, jobs.job_queue_id, jobs.locked_by,
        jobs.locked_at, jobs.updated_at, jobs.run_at, ${talliedAs("jobs", lockedQueues)} as tallied`;

/** A common table expression "job": what is counted. `rows`: a query that gives these columns. */
const countedJobs = (rows: string, page = "0"): string => `
  job as (
    select task_id, job_queue_id, locked_by, tallied, ${page} as page,
      case tallied when 'running' then locked_at when 'failed' then updated_at else run_at end as at
    from ${rows} as jobs
  )`;

const rowsWhere = (s: string, where: string): string => `(
      select ${columns("$1")}
      from ${s}._private_jobs as jobs
      where ${where}
      offset 0
    )`;

// The answer comes by columns: a chunk may have a row for each of thousands of queues and conditions,
// and to parse those one by one would hold up everybody else in this process.
const summed = `
  select kind, tallied, json_agg(key)::text as keys, json_agg(count)::text as counts,
    json_agg(squares)::text as squares, json_agg(${milliseconds("at")})::text as times
  from (
    select kind, key, tallied, sum(count) as count, sum(count * count) as squares,
      case when tallied = 'failed' then max(last) else min(first) end as at
    from (
      select
        case grouping(task_id, job_queue_id, locked_by)
          when 3 then 'task' when 5 then 'queue' else 'holder' end as kind,
        coalesce(task_id::text, job_queue_id::text, locked_by) as key,
        tallied, count(*) as count, min(at) as first, max(at) as last
      from job
      group by grouping sets
        ((page, task_id, tallied), (page, job_queue_id, tallied), (page, locked_by, tallied))
      having grouping(locked_by) = 1 or locked_by is not null
    ) as on_page
    group by kind, key, tallied
  ) as of_name
  group by kind, tallied`;

const inPages = "jobs.ctid >= $2::tid and jobs.ctid < $3::tid";

const allSql: Statement = (s) => `
  with ${countedJobs(rowsWhere(s, "true"))} ${summed}`;

/** All jobs in one pass: for a small table. `lockedQueueIds`: of the gauge. */
export async function tallyAll(
  db: Database,
  lockedQueueIds: readonly number[],
): Promise<readonly TallyRow[]> {
  return query<TallyRow>(db, allSql, [lockedQueueIds]);
}

// Several admins count the same jobs: who does not get the lock leaves it to who has it. Of the
// transaction, so it is free again with the chunk, also behind a pooler; nobody waits for it.
const chunkSql: Statement = (s) => `
  with lock as materialized (
    select pg_try_advisory_xact_lock(hashtextextended('worker:census:' || $4::text, 0)) as is_ours
  ), ${countedJobs(rowsWhere(s, `${inPages} and (select is_ours from lock)`))}
  select lock.is_ours, summed.* from lock left join (${summed}
  ) as summed on true`;

interface ChunkRow extends TallyRow {
  readonly is_ours: boolean;
}

/**
 * The jobs on pages from `from` up to `to`, which is not included. null: another admin is counting at
 * this moment.
 */
export async function tallyChunk(
  db: Database,
  lockedQueueIds: readonly number[],
  from: number,
  to: number,
): Promise<readonly TallyRow[] | null> {
  const rows = await query<ChunkRow>(db, chunkSql, [
    lockedQueueIds,
    `(${from},0)`,
    `(${to},0)`,
    db.schema.name,
  ]);
  if (rows[0]?.is_ours === false) return null;
  // An empty chunk still has its row about the lock.
  return rows.filter(({ kind }) => kind !== null);
}

const sampleSql: Statement = (s) => `
  with ${countedJobs(
    `unnest($2::bigint[]) as sampled (page)
    cross join lateral (${rowsOfPage(s, "sampled.page", columns("$1"))}
    )`,
    "sampled.page",
  )} ${summed}`;

/** Those on certain pages alone, for estimates. `pages`: ascending. */
export async function tallySample(
  db: Database,
  lockedQueueIds: readonly number[],
  pages: readonly number[],
): Promise<readonly TallyRow[]> {
  return query<TallyRow>(db, sampleSql, [lockedQueueIds, pages]);
}
