// Reads the earliest and the latest run_at that an operation would set, if the exact number of its jobs is known and
// not too large.
import { type Database, query } from "../../../database/database.ts";
import type { Value } from "../../../domain/value.ts";
import type { JobQuery } from "../../../insight/query/job-query.ts";
import { microseconds, timeText } from "../../../queue/sql/moments.ts";
import { type JobChange, parameters } from "../../before-images/job-change.ts";

export interface Times {
  readonly first: string;
  readonly last: string;
}

const MAX_READ = 100_000;

/**
 * Returns the earliest and the latest new run_at. Returns null if the jobs get no new run_at, if there are no jobs or
 * more than 100,000, if their number is not exact, or if SQL alone cannot evaluate the query. `count`: the number of
 * jobs that the operation would change.
 */
export async function readTimes(
  reads: Database,
  { moves, set }: JobChange,
  jobs: JobQuery,
  maxId: string,
  count: Value,
): Promise<Times | null> {
  if (moves !== true || set?.["run_at"] === undefined) return null;
  if (jobs.isEmpty || jobs.check !== null) return null;
  if (count.precision !== "exact" || count.value > MAX_READ) return null;
  const { values, parameter } = parameters();
  const maximum = parameter(maxId, "bigint");
  const limit = parameter(count.value, "int");
  const at = { row: "jobs", id: "jobs.id", now: "pg_catalog.now()" };
  const runAt = set["run_at"](at, parameter);
  const matches = jobs.sql(values.length + 1);
  const statement = timesSql({ maximum, limit, runAt, matches });
  const [row] = await query<TimesRow>(reads, statement, [...values, ...jobs.values]);
  if (row === undefined || row.first_us === null || row.last_us === null) return null;
  return { first: timeText(row.first_us), last: timeText(row.last_us) };
}

interface TimesRow {
  readonly first_us: string | null;
  readonly last_us: string | null;
}

interface TimesParts {
  readonly maximum: string;
  readonly limit: string;
  readonly runAt: string;
  readonly matches: string;
}

// Reads the jobs with the lowest ids, because an operation with a limit changes these jobs.
const timesSql =
  ({ maximum, limit, runAt, matches }: TimesParts) =>
  (s: string) =>
    `
  select ${microseconds("pg_catalog.min(moved.run_at)")} as first_us,
    ${microseconds("pg_catalog.max(moved.run_at)")} as last_us
  from (
    select ${runAt} as run_at
    from ${s}._private_jobs as jobs
    where jobs.id <= ${maximum} and jobs.locked_at is null and ${matches}
    order by jobs.id
    limit ${limit}
  ) as moved`;
