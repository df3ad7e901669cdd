// Finds the last error of each given task. In a small table, all jobs with errors are read. In a large table, or if
// this takes too long, a sample is read: the newest failed jobs, the retries due nearest to now, and random pages. The
// sample may miss the last error of a task.
import { type Database, query, type Statement } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";
import { indexCondition } from "../../database/schema/indexes/optional-index.ts";
import { usableIndexes } from "../../database/schema/indexes/usable-indexes.ts";
import { isFailed } from "../../queue/sql/job-state.ts";
import { milliseconds } from "../../queue/sql/moments.ts";
import { failedAt, isFailureTimed } from "../expressions/failed-at.ts";
import { readGauge } from "../stats/gauge.ts";
import { sampleInTime } from "../stats/in-time.ts";
import { selectPages } from "../stats/page-sample.ts";
import { rowsOfPage } from "../stats/sample-jobs.ts";

export interface LastError {
  /** The first line of the error. */
  readonly line: string;
  /** When the attempt failed, in ms since 1970; null if unknown, usually because the job was changed later. */
  readonly atMs: number | null;
}

export interface LastErrors {
  /** The last errors, by the task's id. */
  readonly of: ReadonlyMap<number, LastError>;
  /** Whether only some jobs were read. */
  readonly areSampled: boolean;
}

/** The maximum number of failed jobs, and of retries, that are read. */
const NEWEST = 2_000;
const SAMPLED_PAGES = 250;

export async function lastErrors(
  db: Database,
  taskIds: readonly number[],
  isSmall: boolean,
): Promise<LastErrors> {
  const all = isSmall ? await nullOnTimeout(lastOfAll(db, taskIds)) : null;
  if (all !== null) return { of: newestOf(all), areSampled: false };
  const indexes = await usableIndexes(db);
  const failed = indexes.has("failed") ? await nullOnTimeout(lastOfFailed(db, taskIds)) : null;
  const retried = indexes.has("retrying") ? await nullOnTimeout(lastOfRetried(db, taskIds)) : null;
  const newest = newestOf([...(failed ?? []), ...(retried ?? [])]);
  const rest = taskIds.filter((id) => !newest.has(id));
  if (rest.length === 0) return { of: newest, areSampled: true };
  const { pages } = await readGauge(db);
  const sampled = await nullOnTimeout(
    sampleInTime(db, "errors", SAMPLED_PAGES, (count) =>
      lastOfPages(db, rest, selectPages(pages, count)),
    ),
  );
  return { of: new Map([...newest, ...newestOf(sampled ?? [])]), areSampled: true };
}

const EARLIEST = Number.NEGATIVE_INFINITY;

function newestOf(rows: readonly ErrorRow[]): ReadonlyMap<number, LastError> {
  const of = new Map<number, LastError>();
  for (const { task_id: id, start, at_ms: at } of rows) {
    const atMs = at === null ? null : Number(at);
    const before = of.get(id);
    if (before === undefined || (atMs ?? EARLIEST) > (before.atMs ?? EARLIEST)) {
      of.set(id, { line: start.split(/[\r\n]/, 1)[0] ?? "", atMs });
    }
  }
  return of;
}

const lastOfAll = (db: Database, taskIds: readonly number[]) =>
  query<ErrorRow>(db, lastOfAllSql, [taskIds]);

/** Returns the last errors among the newest failed jobs. Fast only with the index on failed jobs. */
export const lastOfFailed = (db: Database, taskIds: readonly number[]): Promise<ErrorRow[]> =>
  query<ErrorRow>(db, lastOfFailedSql, [taskIds]);

/** Returns the last errors among the retries due nearest to now. Fast only with the index on retries. */
export const lastOfRetried = (db: Database, taskIds: readonly number[]): Promise<ErrorRow[]> =>
  query<ErrorRow>(db, lastOfRetriedSql, [taskIds]);

export const lastOfPages = (
  db: Database,
  taskIds: readonly number[],
  pages: readonly number[],
): Promise<ErrorRow[]> => query<ErrorRow>(db, lastOfPagesSql, [taskIds, pages]);

interface ErrorRow {
  readonly task_id: number;
  readonly start: string;
  readonly at_ms: string | null;
}

const knownAt = `case when ${isFailureTimed("jobs")} then ${failedAt("jobs")} end`;

/** `found`: a query for the jobs to consider, with the columns `id`, `task_id` and `at`, the time of the failure. */
const lastOf = (s: string, found: string): string => `
  with found as materialized (${found}
  ), last as (
    select distinct on (found.task_id) found.id
    from found
    where found.task_id = any ($1::int[])
    order by found.task_id, found.at desc nulls last, found.id desc
  )
  select jobs.task_id, pg_catalog.left(jobs.last_error, 300) as start,
    ${milliseconds(knownAt)} as at_ms
  from last join ${s}._private_jobs as jobs on jobs.id = last.id
  where jobs.last_error is not null`;

const FAILED = `jobs.id, jobs.task_id, ${knownAt} as at`;

const lastOfAllSql: Statement = (s) =>
  lastOf(
    s,
    `
    select ${FAILED} from ${s}._private_jobs as jobs
    where jobs.task_id = any ($1::int[]) and jobs.last_error is not null`,
  );

// `at` is updated_at and not knownAt, so that the newest failed jobs are found with the index alone.
const lastOfFailedSql: Statement = (s) =>
  lastOf(
    s,
    `
    select jobs.id, jobs.task_id, jobs.updated_at as at from ${s}._private_jobs as jobs
    where ${isFailed("jobs")}
    order by jobs.updated_at desc, jobs.id desc
    limit ${NEWEST}`,
  );

// The delays before a job's first retries are short, so most jobs that failed recently are due near to now.
const lastRetriedSql = (s: string, when: string, order: string): string => `
    (select ${FAILED} from ${s}._private_jobs as jobs
    where ${indexCondition("retrying", "jobs")} and jobs.run_at ${when} pg_catalog.now()
    order by jobs.run_at ${order}
    limit ${NEWEST / 2})`;

const lastOfRetriedSql: Statement = (s) =>
  lastOf(s, `${lastRetriedSql(s, "<=", "desc")} union all ${lastRetriedSql(s, ">", "asc")}`);

const lastOfPagesSql: Statement = (s) =>
  lastOf(
    s,
    `
    select job.* from pg_catalog.unnest($2::bigint[]) as sampled (page)
    cross join lateral (${rowsOfPage(s, "sampled.page", FAILED, "jobs.last_error is not null and jobs.task_id = any ($1::int[])")}
    ) as job`,
  );
