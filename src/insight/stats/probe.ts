// Counts the due jobs and the future jobs, up to a limit, and finds the oldest due job and the next scheduled job. Only
// the heads are read: the first due and future entries of up to 32 priorities, in the index that workers fetch from.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isAvailable, isDue } from "../../queue/sql/eligible.ts";
import { milliseconds } from "../../queue/sql/moments.ts";
import { MAX_PRIORITIES, priorities } from "../read/priorities.ts";
import type { TallyName } from "./tally.ts";
import { talliedAs } from "./tally.ts";

/** The maximum number of due jobs, and of future jobs, that are counted exactly in each priority. */
const CAP = 1_000;

export interface Probe {
  /** The number of due jobs, including retries; a lower bound if `isDueExact` is false. */
  readonly due: number;
  readonly isDueExact: boolean;
  /** The number of due jobs in a locked queue, among the first 1,001 due jobs of each priority. */
  readonly blocked: number;
  /** The number of future jobs, including retries; a lower bound if `isAheadExact` is false. */
  readonly ahead: number;
  readonly isAheadExact: boolean;
  /** The run_at of the oldest due job in the heads, in milliseconds since 1970; null: none. */
  readonly oldestMs: number | null;
  /** Like `oldestMs`, without blocked jobs and retries. */
  readonly oldestFreeMs: number | null;
  /** The run_at of the next scheduled job in the heads, in milliseconds since 1970; null: none. */
  readonly nextMs: number | null;
  /** The number of available jobs whose run_at has passed since `sinceMs`; null if not known exactly. */
  readonly becameDue: number | null;
}

/** The result if the index could not be read in time. */
export const NOTHING_PROBED: Probe = Object.freeze({
  due: 0,
  isDueExact: false,
  blocked: 0,
  ahead: 0,
  isAheadExact: false,
  oldestMs: null,
  oldestFreeMs: null,
  nextMs: null,
  becameDue: null,
});

interface ProbeRow {
  readonly priorities: string;
  readonly due: string | null;
  readonly most_due: string | null;
  readonly blocked: string | null;
  readonly ahead: string | null;
  readonly most_ahead: string | null;
  readonly oldest_ms: string | null;
  readonly oldest_free_ms: string | null;
  readonly next_ms: string | null;
  readonly became_due: string | null;
  readonly most_became_due: string | null;
}

const head = (s: string, columns: string, when: string, limit: string): string => `
      select ${columns} from ${s}._private_jobs as jobs
      where ${isAvailable("jobs")} and jobs.priority = known.priority and ${when}
      order by jobs.run_at limit ${limit}`;

const isAhead = "jobs.run_at > pg_catalog.now()";
const hasBecomeDue = `jobs.run_at > pg_catalog.to_timestamp($2::float8 / 1000::float8) and ${isDue("jobs")}`;

const probeSql: Statement = (s) => `
  with recursive ${priorities(s)}, known as (
    select priority from priorities where priority is not null
  ), heads as (
    select
      (select pg_catalog.count(*) from (${head(s, "", isDue("jobs"), "$1::int + 1")}) as due) as due,
      (select pg_catalog.count(*) from (${head(s, "", isAhead, "$1::int + 1")}) as ahead) as ahead,
      (select pg_catalog.count(*) from (${head(s, "", hasBecomeDue, "$1::int + 1")}) as due) as became_due,
      (${head(s, "run_at", isDue("jobs"), "1")}) as oldest,
      due.oldest_free, due.blocked,
      (select pg_catalog.min(run_at) filter (where attempts = 0)
        from (${head(s, "run_at, attempts", isAhead, "$1::int + 1")}) as ahead) as next
    from known, lateral (
      select pg_catalog.min(run_at) filter (where attempts = 0 and is_blocked is not true) as oldest_free,
        pg_catalog.count(*) filter (where is_blocked) as blocked
      from (${head(s, "run_at, job_queue_id = any($3::int[]) as is_blocked, attempts", isDue("jobs"), "$1::int + 1")}) as first
    ) as due
  )
  select pg_catalog.count(*) as priorities, pg_catalog.sum(blocked) as blocked,
    pg_catalog.sum(due) as due, pg_catalog.max(due) as most_due, pg_catalog.sum(ahead) as ahead, pg_catalog.max(ahead) as most_ahead,
    pg_catalog.sum(became_due) as became_due, pg_catalog.max(became_due) as most_became_due,
    ${milliseconds("pg_catalog.min(oldest)")} as oldest_ms, ${milliseconds("pg_catalog.min(next)")} as next_ms,
    ${milliseconds("pg_catalog.min(oldest_free)")} as oldest_free_ms
  from heads`;

/** Reads the heads. `sinceMs`: the time from which `becameDue` counts, in milliseconds since 1970. */
export async function readProbe(
  db: Database,
  sinceMs: number,
  lockedQueueIds: readonly number[],
): Promise<Probe> {
  const [row] = await query<ProbeRow>(db, probeSql, [CAP, sinceMs, lockedQueueIds]);
  const isWhole = Number(row?.priorities ?? 0) < MAX_PRIORITIES;
  const isExact = (most: string | null | undefined) => isWhole && Number(most ?? 0) <= CAP;
  const time = (ms: string | null | undefined) => (ms == null ? null : Number(ms));
  return {
    due: Number(row?.due ?? 0),
    isDueExact: isExact(row?.most_due),
    blocked: Number(row?.blocked ?? 0),
    ahead: Number(row?.ahead ?? 0),
    isAheadExact: isExact(row?.most_ahead),
    oldestMs: time(row?.oldest_ms),
    oldestFreeMs: time(row?.oldest_free_ms),
    nextMs: time(row?.next_ms),
    becameDue: isExact(row?.most_became_due) ? Number(row?.became_due ?? 0) : null,
  };
}

const talliesSql =
  (when: string): Statement =>
  (s) =>
    `
  with recursive ${priorities(s)}, known as (
    select priority from priorities where priority is not null
  )
  select tallied, pg_catalog.count(*) as count
  from known, lateral (${head(s, `${talliedAs("jobs", "$1", null)} as tallied`, when, "$2::int")}
    ) as counted
  group by tallied`;

const dueSql = talliesSql(isDue("jobs"));
const aheadSql = talliesSql(isAhead);

/**
 * Counts the due jobs, or with `ahead` the future jobs, in each condition that has jobs. The counts are right only if
 * the probe's number for this side is exact.
 */
export async function readProbeTallies(
  db: Database,
  side: "due" | "ahead",
  lockedQueueIds: readonly number[],
): Promise<ReadonlyMap<TallyName, number>> {
  const rows = await query<{ tallied: TallyName; count: string }>(
    db,
    side === "due" ? dueSql : aheadSql,
    // The limit is more than CAP, because jobs may have been added after the probe.
    [lockedQueueIds, 2 * CAP],
  );
  return new Map(rows.map(({ tallied, count }) => [tallied, Number(count)]));
}
