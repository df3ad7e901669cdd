// What an incident shows about crashes: the workers whose jobs were recovered, as long as their rows exist, and the
// errors of jobs that were failed by hand.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasOperations } from "../../database/schema/extensions/has-operations.ts";
import { errorLabel } from "../../domain/error-group.ts";
import { reportedWorkers } from "../expressions/reported-workers.ts";
import type { PayloadField, PoisonJob } from "./poison-walk.ts";

export interface Crash {
  readonly workerId: string;
  readonly recoveredMs: number;
}

/** What is known of the crashes of a job's workers. */
export interface CrashReport {
  /** The first payload fields of the suspected job; empty if there are several. */
  readonly fields: readonly PayloadField[];
  /** When workers crashed since the job was added, oldest first, RFC 3339; only workers whose rows still exist. */
  readonly times: readonly string[];
  /** The number of crashes in a row. */
  readonly crashes: number;
  /** The jobs that lost attempts in crashes, those that lost most first. */
  readonly jobs: readonly {
    readonly id: string;
    readonly task: string | null;
    readonly crashes: number;
  }[];
  /** The worker that runs the job; otherwise the worker that crashed last. */
  readonly worker: string | null;
}

const MAX_JOBS = 6;

/**
 * Returns the report. `suspects`: the jobs that were running at every crash; `others`: those that may have been running at some.
 */
export function crashReport(
  suspects: readonly PoisonJob[],
  others: readonly PoisonJob[],
  known: readonly Crash[],
): CrashReport {
  const [job] = suspects as [PoisonJob];
  const since = known
    .filter(({ recoveredMs }) => recoveredMs >= job.createdMs)
    .toSorted((a, b) => a.recoveredMs - b.recoveredMs);
  const all = [...suspects, ...others.toSorted((a, b) => b.lost - a.lost)];
  return {
    fields: suspects.length === 1 ? job.fields : [],
    times: since.map(({ recoveredMs }) => new Date(recoveredMs).toISOString()),
    crashes: job.lost,
    jobs: all.slice(0, MAX_JOBS).map(({ id, task, lost }) => ({ id, task, crashes: lost })),
    worker: job.lockedBy ?? job.recoveredFrom ?? since.at(-1)?.workerId ?? null,
  };
}

const TREND_MS = 3 * 3_600_000;
const BARS = 24;

/** Returns the number of crashes in each 24th of the last 3 hours; empty if unknown. */
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
const MAX_REASONS = 1_000;

const crashesSql: Statement = (s) => `
  select id, pg_catalog.left(metadata ->> 'recovered_at'::text, 64) as recovered_at
  from ${reportedWorkers(s)} as workers
  where metadata ? 'recovered_at'::text
  order by last_heartbeat_at desc limit ${MAX_CRASHES}`;

/** Returns the latest crashes. */
export async function readCrashes(db: Database, hasWorkers: boolean): Promise<Crash[]> {
  if (!hasWorkers) return [];
  const rows = await query<{ id: string; recovered_at: string }>(db, crashesSql);
  return rows
    .map((row) => ({ workerId: row.id, recoveredMs: Date.parse(row.recovered_at) }))
    .filter(({ recoveredMs }) => !Number.isNaN(recoveredMs));
}

const reasonsSql: Statement = (s) => `
  select distinct changes ->> 'reason'::text as reason
  from (
    select changes from ${s}._private_operations
    where action = 'fail'::text order by id desc limit ${MAX_REASONS}
  ) as failed
  where changes ->> 'reason'::text is not null`;

/** Returns the labels of the errors of jobs that were failed by hand. */
export async function readReasons(db: Database): Promise<ReadonlySet<string>> {
  if (!(await hasOperations(db))) return new Set();
  const rows = await query<{ reason: string }>(db, reasonsSql);
  return new Set(rows.map(({ reason }) => errorLabel(reason)));
}
