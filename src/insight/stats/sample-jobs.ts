// Counts the jobs in each condition on a sample of the pages of the table of jobs. `tablesample` is not used, because
// pages without jobs must be in the result.
import { type Database, query, type Statement } from "../../database/database.ts";
import { milliseconds } from "../../queue/sql/moments.ts";
import { failedForGoodAt } from "../expressions/failed-at.ts";
import type { Heartbeats } from "../expressions/heartbeats.ts";
import type { Locks } from "./gauge.ts";
import { type TallyName, tallied, talliedAs } from "./tally.ts";

export interface JobSample {
  /** For each condition, the number of jobs on each page that was read, in page order. */
  readonly counts: Readonly<Record<TallyName, readonly number[]>>;
  /** The earliest lock time of a running job in the sample, in milliseconds since 1970; null: none. */
  readonly longestRunningMs: number | null;
  /** The latest known time at which a job of the sample failed for good, in milliseconds since 1970; null: none. */
  readonly lastFailureMs: number | null;
}

/**
 * Returns a select of the rows of one page, for a lateral join. `page`: the column with the page's number. In `what`
 * and `where`, the alias of the table is `jobs`.
 */
export const rowsOfPage = (s: string, page: string, what: string, where = "true"): string => `
      select ${what} from ${s}._private_jobs as jobs
      where jobs.ctid >= ('(' || ${page}::text || ',0)')::tid
        and jobs.ctid < ('(' || (${page} + 1)::text || ',0)')::tid
        and ${where}
      offset 0`;

/** Returns the average number of jobs on one of `pages`. */
export async function readJobsPerPage(db: Database, pages: readonly number[]): Promise<number> {
  const [row] = await query<{ jobs: string }>(db, jobsSql, [pages]);
  return Number(row?.jobs ?? 0) / Math.max(pages.length, 1);
}

const jobsSql: Statement = (s) => `
  select pg_catalog.count(*) as jobs
  from pg_catalog.unnest($1::bigint[]) as sampled (page)
  cross join lateral (${rowsOfPage(s, "sampled.page", "")}
  ) as job`;

const sampleSql =
  (heartbeats: Heartbeats): Statement =>
  (s) =>
    `
  select
    ${tallied.map((one) => `pg_catalog.json_agg(page.${one} order by sampled.page)::text as ${one}`).join(",\n    ")},
    ${milliseconds("pg_catalog.min(page.longest)")} as longest_ms,
    ${milliseconds("pg_catalog.max(page.last)")} as last_ms
  from pg_catalog.unnest($1::bigint[]) as sampled (page)
  cross join lateral (
    select
      ${tallied.map((one) => `pg_catalog.count(*) filter (where tallied = '${one}') as ${one}`).join(",\n      ")},
      pg_catalog.min(locked_at) filter (where tallied = 'running') as longest,
      pg_catalog.max(failed_at) as last
    from (${rowsOfPage(s, "sampled.page", `jobs.locked_at, ${failedForGoodAt("jobs")} as failed_at, ${talliedAs("jobs", "$2", heartbeats)} as tallied`)}
    ) as job
  ) as page`;

type SampleRow = Record<TallyName, string | null> & {
  readonly longest_ms: string | null;
  readonly last_ms: string | null;
};

/** Counts the jobs in each condition on `pages`. */
export async function sampleJobs(
  db: Database,
  pages: readonly number[],
  { lockedQueueIds, heartbeats }: Locks,
): Promise<JobSample> {
  const [row] = await query<SampleRow>(db, sampleSql(heartbeats), [pages, lockedQueueIds]);
  const counts = Object.fromEntries(
    tallied.map((one) => [one, JSON.parse(row?.[one] ?? "[]") as number[]]),
  ) as Record<TallyName, number[]>;
  const time = (ms: string | null | undefined) => (ms == null ? null : Number(ms));
  return {
    counts,
    longestRunningMs: time(row?.longest_ms),
    lastFailureMs: time(row?.last_ms),
  };
}
