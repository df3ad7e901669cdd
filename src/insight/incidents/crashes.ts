// Reads which workers have crashed: those whose jobs were recovered. Creates reports on jobs that crash workers. Also
// finds the error groups whose jobs were all failed by a user.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasOperations } from "../../database/schema/extensions/has-operations.ts";
import { ERROR_START, errorLabel } from "../../domain/error-group.ts";
import { dateOf, microseconds } from "../../queue/sql/moments.ts";
import { isRecovered, reportedNumber } from "../../queue/workers/stale-workers.ts";
import { reportedWorkers } from "../expressions/reported-workers.ts";
import type { Groups } from "../groups/group.ts";
import type { PayloadField, PoisonJob } from "./poison-walk.ts";

export interface Crash {
  readonly workerId: string;
  /** The time of the worker's last heartbeat, in milliseconds since 1970. */
  readonly atMs: number;
}

/** A report on jobs that may have crashed their workers. */
export interface CrashReport {
  /** The first payload fields of the suspected job; empty if several jobs are suspected. */
  readonly fields: readonly PayloadField[];
  /**
   * The times of the last heartbeats of the workers that have crashed since the first of `jobs` was added; RFC 3339,
   * oldest first.
   */
  readonly times: readonly string[];
  /** How many attempts in a row each suspected job has lost in crashes. */
  readonly crashes: number;
  /** At most 6 jobs that lost attempts in crashes, first the suspected jobs. */
  readonly jobs: readonly {
    readonly id: string;
    readonly task: string | null;
    readonly crashes: number;
  }[];
  /**
   * The id of the worker from which the first of `jobs` was last recovered. If this worker is unknown, the id of the
   * worker that crashed last; null if no such crash is known.
   */
  readonly worker: string | null;
}

const MAX_JOBS = 6;

/**
 * `suspects`: the suspected job, or several jobs that lost attempts in the same crashes. `others`: jobs that lost fewer
 * attempts. `known`: the latest crashes.
 */
export function crashReport(
  suspects: readonly PoisonJob[],
  others: readonly PoisonJob[],
  known: readonly Crash[],
): CrashReport {
  const [job] = suspects as [PoisonJob];
  const since = known
    .filter(({ atMs }) => atMs >= job.createdMs)
    .toSorted((a, b) => a.atMs - b.atMs);
  const all = [...suspects, ...others.toSorted((a, b) => b.lost - a.lost)];
  return {
    fields: suspects.length === 1 ? job.fields : [],
    times: since.map(({ atMs }) => new Date(atMs).toISOString()),
    crashes: job.lost,
    jobs: all.slice(0, MAX_JOBS).map(({ id, task, lost }) => ({ id, task, crashes: lost })),
    worker: job.recoveredFrom ?? since.at(-1)?.workerId ?? null,
  };
}

const TREND_MS = 3 * 3_600_000;
const BARS = 24;

/** Returns 24 numbers of crashes, one for each 7.5 minutes of the last 3 hours, oldest first; empty without `times`. */
export function crashTrend({ times }: CrashReport, nowMs: number): number[] {
  if (times.length === 0) return [];
  const trend = Array<number>(BARS).fill(0);
  for (const time of times) {
    const bar = BARS - 1 - Math.floor(((nowMs - Date.parse(time)) / TREND_MS) * BARS);
    if (bar >= 0) trend[Math.min(bar, BARS - 1)] = (trend[Math.min(bar, BARS - 1)] ?? 0) + 1;
  }
  return trend;
}

const MAX_CRASHES = 100;

// A worker that was idle has lost no job, and is left out. Older versions of this library do not write
// `recovered_jobs`, so the worker's last report (`running_jobs`) is used instead.
const crashesSql: Statement = (s) => `
  select id, ${microseconds("last_heartbeat_at")} as heard_us
  from ${reportedWorkers(s)} as workers
  where ${isRecovered}
    and coalesce(${reportedNumber("recovered_jobs")}, ${reportedNumber("running_jobs")}, 0::float8) > 0::float8
  order by last_heartbeat_at desc limit ${MAX_CRASHES}`;

/** Returns the latest crashes, at most 100, latest first. `hasWorkers`: whether the table of heartbeat rows exists. */
export async function readCrashes(db: Database, hasWorkers: boolean): Promise<Crash[]> {
  if (!hasWorkers) return [];
  const rows = await query<{ id: string; heard_us: string }>(db, crashesSql);
  return rows.map((row) => ({ workerId: row.id, atMs: dateOf(row.heard_us).getTime() }));
}

const MAX_REASONS = 1_000;

const reasonsSql: Statement = (s) => `
  select id, pg_catalog.left(changes ->> 'reason'::text, ${ERROR_START}::int) as reason
  from ${s}._private_operations
  where action = 'fail'::text and changes ->> 'reason'::text is not null
  order by id desc limit ${MAX_REASONS}`;

// Counts the jobs that the operations $1 have failed and that have not changed since then, up to the number $3. If $2
// is not null, only jobs with these ids count.
const byHandSql: Statement = (s) => `
  select pg_catalog.count(*)::int as count from (
    select from ${s}._private_operation_rows as images
    join ${s}._private_jobs as jobs on jobs.id = images.job_id and jobs.updated_at = images.left_at
    where images.operation_id = any($1::bigint[]) and images.outcome = 'd'::"char"
      and ($2::bigint[] is null or images.job_id = any($2::bigint[]))
    limit $3::int
  ) as jobs`;

/**
 * Returns the keys of the error groups whose jobs were all failed by operations of users. The reason of such an
 * operation becomes the error of its jobs. If the number of a group's jobs is not exact, only the jobs in `sampleIds`
 * are checked.
 */
export async function readFailedByHand(
  db: Database,
  errors: Groups | null,
): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  if (errors === null || !(await hasOperations(db))) return keys;
  const rows = await query<{ id: string; reason: string }>(db, reasonsSql);
  const operations = Map.groupBy(rows, ({ reason }) => errorLabel(reason));
  for (const { key, label, count, sampleIds } of errors.groups) {
    const ids = operations.get(label)?.map(({ id }) => id);
    if (ids === undefined) continue;
    const [jobs, most] =
      count.precision === "exact" ? [null, count.value] : [sampleIds, sampleIds.length];
    const [row] = await query<{ count: number }>(db, byHandSql, [ids, jobs, most]);
    if (row?.count === most) keys.add(key);
  }
  return keys;
}
