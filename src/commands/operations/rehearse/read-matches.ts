// Reads the data from which match-counts.ts computes the numbers of a rehearsal.
import { type Database, query, type Statement } from "../../../database/database.ts";
import { readGroupedRows } from "../../../insight/groups/job-rows.ts";
import type { JobQuery } from "../../../insight/query/job-query.ts";
import { priorities } from "../../../insight/read/priorities.ts";
import type { SampleOptions } from "../../../insight/stats/count-query.ts";
import type { Gauge } from "../../../insight/stats/gauge.ts";
import { selectPages } from "../../../insight/stats/page-sample.ts";
import { rowsOfPage } from "../../../insight/stats/sample-jobs.ts";
import { isAvailable } from "../../../queue/sql/eligible.ts";
import type { MatchSample, MatchTally } from "./match-counts.ts";

const SAMPLED_PAGES = 2_000;

/** Returns the tally of the matches whose ids are greater than `afterId` and at most `uptoId`. */
export async function tallyRange(
  db: Database,
  jobs: JobQuery,
  afterId: string,
  uptoId: string,
): Promise<MatchTally> {
  const where = `jobs.id > $1::bigint and jobs.id <= $2::bigint and ${jobs.sql(3)}`;
  return tallyOf(await query<TallyRow>(db, tallySql(where), [afterId, uptoId, ...jobs.values]));
}

export async function tallyIds(db: Database, ids: readonly string[]): Promise<MatchTally> {
  return tallyOf(await query<TallyRow>(db, tallySql("jobs.id = any($1::bigint[])"), [ids]));
}

/** Returns the ids of at most `limit` matches that are unlocked and have attempts left. Reads jobs_main_index. */
export async function idsByTime(
  db: Database,
  jobs: JobQuery,
  limit: number,
): Promise<readonly string[]> {
  const rows = await query<{ id: string }>(db, byTimeSql(jobs), [limit, ...jobs.values]);
  return rows.map(({ id }) => id);
}

// The index begins with the priority, so each priority needs a scan of its own.
const byTimeSql =
  (jobs: JobQuery): Statement =>
  (s) =>
    `
  with recursive ${priorities(s)}
  select found.id
  from priorities
  cross join lateral (
    select jobs.id
    from ${s}._private_jobs as jobs
    where ${isAvailable("jobs")} and jobs.priority = priorities.priority and ${jobs.sql(2)}
    limit $1::int
  ) as found
  limit $1::int`;

interface TallyRow {
  /** The result of grouping(): one bit for each of three columns. Only the bit of the grouping column is 0. */
  readonly of: number;
  readonly is_locked: boolean | null;
  readonly task_id: number | null;
  readonly job_queue_id: number | null;
  readonly jobs: number;
  readonly payload_bytes: number;
  readonly error_bytes: number;
}

const BY_LOCKED = 0b011;
const BY_TASK = 0b101;
const BY_QUEUE = 0b110;

const sizes = `pg_catalog.pg_column_size(jobs.payload) as payload_bytes,
      coalesce(pg_catalog.pg_column_size(jobs.last_error), 0) as error_bytes`;

const tallySql =
  (where: string): Statement =>
  (s) =>
    `
  with matching as (
    select jobs.locked_at is not null as is_locked, jobs.task_id, jobs.job_queue_id,
      ${sizes}
    from ${s}._private_jobs as jobs
    where ${where}
  )
  select grouping(is_locked, task_id, job_queue_id) as of,
    is_locked, task_id, job_queue_id, pg_catalog.count(*)::float8 as jobs,
    pg_catalog.sum(payload_bytes)::float8 as payload_bytes, pg_catalog.sum(error_bytes)::float8 as error_bytes
  from matching
  group by grouping sets ((is_locked), (task_id), (job_queue_id))`;

function tallyOf(rows: readonly TallyRow[]): MatchTally {
  const of = (bits: number) => rows.filter((row) => row.of === bits);
  const total = (some: readonly TallyRow[], name: "jobs" | "payload_bytes" | "error_bytes") =>
    some.reduce((all, row) => all + row[name], 0);
  const byLocked = of(BY_LOCKED);
  return {
    rows: total(byLocked, "jobs"),
    locked: total(
      byLocked.filter((row) => row.is_locked === true),
      "jobs",
    ),
    undecided: 0,
    payloadBytes: total(byLocked, "payload_bytes"),
    errorBytes: total(byLocked, "error_bytes"),
    byTask: new Map(of(BY_TASK).map((row) => [row.task_id, row.jobs])),
    byQueue: new Map(of(BY_QUEUE).map((row) => [row.job_queue_id, row.jobs])),
  };
}

/** Returns the matches on random pages of the table. */
export async function sampleMatches(
  db: Database,
  jobs: JobQuery,
  gauge: Gauge,
  maxId: string,
  { sampledPages = SAMPLED_PAGES, random }: SampleOptions = {},
): Promise<MatchSample> {
  if (jobs.check !== null) return sampleChecked(db, jobs, gauge);
  const pages = selectPages(gauge.pages, sampledPages, random);
  const [row] = await query<SampleRow>(db, sampleSql(jobs), [pages, maxId, ...jobs.values]);
  const list = <T>(text: string | null | undefined) => JSON.parse(text ?? "[]") as T[];
  return {
    places: list(row?.places),
    tasks: list(row?.tasks),
    queues: list(row?.queues),
    isLocked: list(row?.locked),
    pagesRead: pages.length,
    pages: gauge.pages,
    payloadBytes: row?.payload_bytes ?? 0,
    errorBytes: row?.error_bytes ?? 0,
  };
}

/**
 * Returns the sample if the query has a `check` that this process runs. The sizes are 0, because count-matches.ts reads
 * them.
 */
async function sampleChecked(db: Database, jobs: JobQuery, gauge: Gauge): Promise<MatchSample> {
  const { rows, pagesRead } = await readGroupedRows(db, jobs, gauge, 0, false);
  return {
    places: rows.map(({ page }) => page),
    tasks: rows.map(({ taskId }) => taskId),
    queues: rows.map(({ queueId }) => queueId),
    isLocked: rows.map(({ lockedBy }) => lockedBy !== null),
    pagesRead,
    pages: gauge.pages,
    payloadBytes: 0,
    errorBytes: 0,
  };
}

interface SampleRow {
  readonly places: string | null;
  readonly tasks: string | null;
  readonly queues: string | null;
  readonly locked: string | null;
  readonly payload_bytes: number | null;
  readonly error_bytes: number | null;
}

// Counting by page in this process is cheaper than grouping in SQL.
const sampleSql =
  (jobs: JobQuery): Statement =>
  (s) =>
    `
  select pg_catalog.json_agg(sampled.place - 1)::text as places, pg_catalog.json_agg(job.task_id)::text as tasks,
    pg_catalog.json_agg(job.job_queue_id)::text as queues, pg_catalog.json_agg(job.is_locked)::text as locked,
    pg_catalog.sum(job.payload_bytes)::float8 as payload_bytes, pg_catalog.sum(job.error_bytes)::float8 as error_bytes
  from pg_catalog.unnest($1::bigint[]) with ordinality as sampled (page, place)
  cross join lateral (${rowsOfPage(
    s,
    "sampled.page",
    `jobs.task_id, jobs.job_queue_id, jobs.locked_at is not null as is_locked, ${sizes}`,
    `jobs.id <= $2::bigint and ${jobs.sql(3)}`,
  )}
  ) as job`;
