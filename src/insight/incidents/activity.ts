// Measures for how long no job was locked or finished. This period shows whether workers without heartbeats are active.
// In a small table of jobs, the newest lock and the newest failure are read, and PostgreSQL's count of deletions is
// compared with that of the previous call. A large table is not read: only PostgreSQL's counts are compared.
import { type Database, query, type Statement } from "../../database/database.ts";
import { ageText } from "../../domain/portable/ages.ts";
import { queueLockedAt } from "../../queue/sql/lock.ts";
import { milliseconds } from "../../queue/sql/moments.ts";
import { failedAt, isFailureTimed } from "../expressions/failed-at.ts";
import { SMALL_TABLE_PAGES } from "../stats/count-query.ts";
import type { Gauge } from "../stats/gauge.ts";

export interface QuietPeriod {
  /** How long no job was locked or finished, in milliseconds; Infinity if no lock and no end of a job is known. */
  readonly ms: number;
  /** Whether deletions were counted during this period. If not, a job may have been completed unnoticed. */
  readonly isWatched: boolean;
}

/** Returns how long no worker was active. Null at the first call if the table is large. */
export type ActivityWatch = (db: Database, gauge: Gauge) => Promise<QuietPeriod | null>;

// An update can be a lock or an add with a key. In a small table locks are read, so updates are not counted.
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
    // At the first call the time of the last deletion is unknown, so only locks and failures count.
    const sinceMs = isFirst ? lastMs : Math.max(lastMs, last.sinceMs);
    return { ms: Math.max(0, nowMs - sinceMs), isWatched: !isFirst };
  };
}

/** Returns an incident's title. */
export const noneTakesJobs = (quiet: QuietPeriod | null): string =>
  `No worker ${quiet?.isWatched === true ? "takes" : "is known to take"} jobs`;

/** Returns the end of a sentence. If deletions were counted, the text shows a period of at most `longestMs`. */
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

// Completed jobs are deleted, and a cleanup deletes the rows of tasks without jobs. So the sequence of job ids is
// read, too: it shows whether a job was ever added.
const unusedSql: Statement = (s) => `
  select not exists (select from ${s}._private_tasks) and case
      when pg_catalog.has_sequence_privilege(ids, 'select')
      then pg_catalog.pg_sequence_last_value(ids::regclass) is null else true end as is_unused
  from (select pg_catalog.pg_get_serial_sequence($1::text, 'id')::regclass::oid as ids) as jobs`;

/**
 * Whether no task exists and no job was ever added. Without the privilege to read the sequence, only tasks are checked.
 */
export async function readIsUnused(db: Database): Promise<boolean> {
  const values = [`${db.schema.quoted}._private_jobs`];
  const [row] = await query<{ readonly is_unused: boolean }>(db, unusedSql, values);
  return row?.is_unused === true;
}
