// The first and the last time that rescheduled jobs would have: of as many as are counted exactly and read at once.
import { type Database, query } from "../../../database/database.ts";
import type { Value } from "../../../domain/value.ts";
import type { JobQuery } from "../../../insight/query/job-query.ts";
import { microseconds, timeText } from "../../../queue/sql/moments.ts";
import { movedRunAt } from "../../before-images/moved-run-at.ts";
import type { Act } from "../model/action.ts";

export interface Times {
  readonly first: string;
  readonly last: string;
}

const MOST_READ = 100_000;

/** null: the action gives no time, there are none, or too many to be read. `change`: how many are changed. */
export async function readTimes(
  reads: Database,
  act: Act,
  jobs: JobQuery,
  maxId: string,
  change: Value,
): Promise<Times | null> {
  if (act.kind !== "reschedule" || jobs.isEmpty || jobs.check !== null) return null;
  const { runAt, shift, spread } = act;
  if (runAt === null && shift === null && spread === null) return null;
  if (change.precision !== "exact" || change.value > MOST_READ) return null;
  const given = runAt === "now" ? null : runAt;
  const values = [maxId, runAt === "now", given, shift, spread, change.value, ...jobs.values];
  const [row] = await query<TimesRow>(reads, timesSql(jobs), values);
  if (row === undefined || row.first_us === null || row.last_us === null) return null;
  return { first: timeText(row.first_us), last: timeText(row.last_us) };
}

interface TimesRow {
  readonly first_us: string | null;
  readonly last_us: string | null;
}

const GIVEN_OR_OWN =
  "case when $2::boolean then pg_catalog.now() else coalesce($3::timestamptz, jobs.run_at) end";

// Those of the lowest ids, as an operation with a limit changes them.
const timesSql = (jobs: JobQuery) => (s: string) =>
  `
  select ${microseconds("pg_catalog.min(moved.run_at)")} as first_us,
    ${microseconds("pg_catalog.max(moved.run_at)")} as last_us
  from (
    select ${movedRunAt(GIVEN_OR_OWN, "jobs.id", "$4::double precision", "$5::double precision")} as run_at
    from ${s}._private_jobs as jobs
    where jobs.id <= $1::bigint and jobs.locked_at is null and ${jobs.sql(7)}
    order by jobs.id
    limit $6::int
  ) as moved`;
