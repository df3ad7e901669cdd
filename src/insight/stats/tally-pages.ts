// Counts the jobs of each task and of each named queue by condition, and the jobs that each worker (the *holder*) has
// locked: in a whole table, in a chunk of pages (for snapshot/census.ts), or in a sample of pages.

import { type Database, query, type Statement } from "../../database/database.ts";
import { lockedConditions } from "../../domain/condition.ts";
import { lockHolder } from "../../queue/sql/lock.ts";
import { failedForGoodAt } from "../expressions/failed-at.ts";
import type { Heartbeats } from "../expressions/heartbeats.ts";
import type { Locks } from "./gauge.ts";
import type { SampledJobs, TallyRow } from "./name-tallies.ts";
import { rowsOfPage } from "./sample-jobs.ts";
import { talliedAs } from "./tally.ts";

const LOCKED = lockedConditions.map((one) => `'${one}'`).join(", ");

// Each row has lists of keys, counts and times, because parsing thousands of rows would block this process. Holders are
// counted by a separate select, because few jobs are locked: a third grouping of all jobs would make the statement 50 %
// slower. With 10,000 groups, numeric times or a sort by locale would take much longer than floats and `collate "C"`.
const tallies = (s: string, heartbeats: Heartbeats, where: string): string => `
  select kind collate "C" as kind, tallied collate "C" as tallied, pg_catalog.json_agg(key)::text as keys, pg_catalog.json_agg(count)::text as counts,
    pg_catalog.json_agg(pg_catalog.date_part('epoch', at) * 1000::float8)::text as times
  from (
    select
      case grouping(task_id) when 0 then 'task' else 'queue' end as kind,
      coalesce(task_id, job_queue_id)::text as key, tallied, pg_catalog.count(*) as count,
      coalesce(
        pg_catalog.min(locked_at) filter (where tallied in (${LOCKED})),
        pg_catalog.max(failed_at),
        pg_catalog.min(run_at) filter (where tallied not in (${LOCKED}, 'failed'))
      ) as at
    from (
      select jobs.task_id, jobs.job_queue_id, jobs.locked_at, jobs.run_at,
        ${failedForGoodAt("jobs")} as failed_at,
        ${talliedAs("jobs", "$1", heartbeats)} as tallied
      from ${s}._private_jobs as jobs
      where ${where}
      offset 0
    ) as jobs
    group by grouping sets ((task_id, tallied), (job_queue_id, tallied))
    union all
    select 'holder', ${lockHolder("jobs")}, 'running', pg_catalog.count(*), null
    from ${s}._private_jobs as jobs
    where ${where} and locked_at is not null and locked_by is not null
    group by 2
  ) as grouped
  group by kind collate "C", tallied collate "C"`;

const allSql =
  (heartbeats: Heartbeats): Statement =>
  (s) =>
    tallies(s, heartbeats, "true");

/** Counts all jobs of a small table in one pass. */
export async function tallyAll(
  db: Database,
  { lockedQueueIds, heartbeats }: Locks,
): Promise<readonly TallyRow[]> {
  return query<TallyRow>(db, allSql(heartbeats), [lockedQueueIds]);
}

const isInChunk = "jobs.ctid >= $2::tid and jobs.ctid < $3::tid and (select is_ours from lock)";

// Requests an advisory lock, so that only one admin counts at a time. The lock belongs to the transaction, so it ends
// with the statement, even behind a pooler.
const tryLock = (schemaName: string): string =>
  `pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended('worker:census:' || ${schemaName}::text, 0))`;

const freeSql: Statement = () => `select ${tryLock("$1")} as is_free`;

/** Whether no admin is counting a chunk at this moment. */
export async function isCensusFree(db: Database): Promise<boolean> {
  const [row] = await query<{ is_free: boolean }>(db, freeSql, [db.schema.name]);
  return row?.is_free !== false;
}

const chunkSql =
  (heartbeats: Heartbeats): Statement =>
  (s) =>
    `
  with lock as materialized (
    select ${tryLock("$4")} as is_ours
  )
  select lock.is_ours, tallies.* from lock left join (${tallies(s, heartbeats, isInChunk)}
  ) as tallies on true`;

interface ChunkRow extends TallyRow {
  readonly is_ours: boolean;
}

/** Counts the jobs on the pages from `from` (inclusive) to `to` (exclusive); null: another admin is counting. */
export async function tallyChunk(
  db: Database,
  { lockedQueueIds, heartbeats }: Locks,
  from: number,
  to: number,
): Promise<readonly TallyRow[] | null> {
  const rows = await query<ChunkRow>(db, chunkSql(heartbeats), [
    lockedQueueIds,
    `(${from},0)`,
    `(${to},0)`,
    db.schema.name,
  ]);
  if (rows[0]?.is_ours === false) return null;
  // A chunk without jobs has one row, which shows only that the lock was free.
  return rows.filter(({ kind }) => kind !== null);
}

// Returns the jobs uncounted: counting them in this process is cheaper than grouping them in SQL.
const sampleSql =
  (heartbeats: Heartbeats): Statement =>
  (s) =>
    `
  select
    coalesce(pg_catalog.json_agg(sampled.page), '[]')::text as pages,
    coalesce(pg_catalog.json_agg(job.task_id), '[]')::text as tasks,
    coalesce(pg_catalog.json_agg(job.job_queue_id), '[]')::text as queues,
    coalesce(pg_catalog.json_agg(job.tallied), '[]')::text as tallied,
    coalesce(pg_catalog.json_agg(job.locked_by) filter (where job.locked_by is not null), '[]')::text as holders
  from pg_catalog.unnest($2::bigint[]) as sampled (page)
  cross join lateral (${rowsOfPage(
    s,
    "sampled.page",
    `jobs.task_id, jobs.job_queue_id, ${lockHolder("jobs")} as locked_by,
        ${talliedAs("jobs", "$1", heartbeats)} as tallied`,
  )}
  ) as job`;

/** Returns the page, task, queue and condition of each job on the given pages, and the holders of locked jobs. */
export async function sampleNames(
  db: Database,
  { lockedQueueIds, heartbeats }: Locks,
  pages: readonly number[],
): Promise<SampledJobs> {
  const [row] = await query<Record<keyof SampledJobs, string>>(db, sampleSql(heartbeats), [
    lockedQueueIds,
    pages,
  ]);
  const list = <T>(text: string | undefined) => JSON.parse(text ?? "[]") as T[];
  return {
    pages: list(row?.pages),
    tasks: list(row?.tasks),
    queues: list(row?.queues),
    tallied: list(row?.tallied),
    holders: list(row?.holders),
  };
}
