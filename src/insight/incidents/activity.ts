// Detects whether any worker is active, even one without heartbeats: how long ago a job was last locked or finished. In
// a small table it reads the newest lock and failure; for a large one it compares PostgreSQL's counters of written rows
// between calls. It also reads whether the queue was ever used.
import { type Database, query, type Statement } from "../../database/database.ts";
import { ageText } from "../../domain/portable/ages.ts";
import { queueLockedAt } from "../../queue/sql/lock.ts";
import { milliseconds } from "../../queue/sql/moments.ts";
import { failedAt, isFailureTimed } from "../expressions/failed-at.ts";
import { SMALL_TABLE_PAGES } from "../stats/count-query.ts";
import type { Gauge } from "../stats/gauge.ts";

export interface QuietPeriod {
  /** How long no job was locked or finished, in milliseconds. */
  readonly ms: number;
  /** Whether the end of a job in that time would have been noticed, because deletions were counted. */
  readonly isWatched: boolean;
}

/** Returns how long no worker was active; null if unknown. */
export type ActivityWatch = (db: Database, gauge: Gauge) => Promise<QuietPeriod | null>;

// Adding with a key also updates rows, so in a small table, where locks are read, only deletions count.
const writesOf = ({ pages, updated, deleted }: Gauge) =>
  pages <= SMALL_TABLE_PAGES ? deleted : updated + deleted;

export function createActivityWatch(): ActivityWatch {
  let last: { readonly writes: number; readonly sinceMs: number } | null = null;
  return async (db, gauge) => {
    const { nowMs, pages } = gauge;
    const writes = writesOf(gauge);
    const isFirst = last === null;
    if (last === null || last.writes !== writes) last = { writes, sinceMs: nowMs };
    if (pages > SMALL_TABLE_PAGES) {
      return isFirst ? null : { ms: nowMs - last.sinceMs, isWatched: true };
    }
    const [row] = await query<{ last_ms: string | null }>(db, lastSql);
    const lastMs = row?.last_ms == null ? Number.NEGATIVE_INFINITY : Number(row.last_ms);
    // How many rows were deleted before the first call is unknown, so only locks and failures count.
    const sinceMs = isFirst ? lastMs : Math.max(lastMs, last.sinceMs);
    return { ms: Math.max(0, nowMs - sinceMs), isWatched: !isFirst };
  };
}

/** Returns the title of the incident. Without counted deletions, finished jobs may not have been noticed. */
export const noneTakesJobs = (quiet: QuietPeriod | null): string =>
  `No worker ${quiet?.isWatched === true ? "takes" : "is known to take"} jobs`;

/** Returns how long no worker was active, at most `longestMs`. Jobs that have succeeded left no row. */
export function quietText(quiet: QuietPeriod | null, longestMs: number): string {
  const ms = quiet?.ms ?? 0;
  if (quiet?.isWatched !== true) {
    return Number.isFinite(ms)
      ? `the last known lock or failure is ${ageText(ms)} old`
      : "no job is locked";
  }
  return `none has locked or finished a job for ${ageText(Math.min(ms, longestMs))}`;
}

const lastSql: Statement = (s) => `
  select ${milliseconds(`greatest(
      (select pg_catalog.max(${queueLockedAt("queues")}) from ${s}._private_job_queues as queues),
      pg_catalog.max(locked_at),
      pg_catalog.max(case when ${isFailureTimed("jobs")} then ${failedAt("jobs")} end)
        filter (where last_error is not null and attempts < max_attempts)
    )`)} as last_ms
  from ${s}._private_jobs as jobs
  where locked_at is not null or attempts > 0`;

// Successful jobs are deleted, so an empty table proves nothing. A worker adds the names of its tasks, and a cleanup
// removes those without jobs. The sequence of ids shows whether a job was ever added.
const unusedSql: Statement = (s) => `
  select not exists (select from ${s}._private_tasks) and case
      when pg_catalog.has_sequence_privilege(ids, 'select')
      then pg_catalog.pg_sequence_last_value(ids::regclass) is null else true end as is_unused
  from (select pg_catalog.pg_get_serial_sequence($1::text, 'id')::regclass::oid as ids) as jobs`;

/** Whether there is no task and no job was ever added. Without the privilege to read the sequence, only tasks count. */
export async function readIsUnused(db: Database): Promise<boolean> {
  const values = [`${db.schema.quoted}._private_jobs`];
  const [row] = await query<{ readonly is_unused: boolean }>(db, unusedSql, values);
  return row?.is_unused === true;
}
