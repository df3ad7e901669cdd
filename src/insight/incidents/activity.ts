// Detects whether any worker is active, also one without heartbeats: how long ago a job was last locked or finished. In
// a small table it reads the newest lock and failure; for a large one it compares PostgreSQL's counters of written rows
// between calls.
import { type Database, query, type Statement } from "../../database/database.ts";
import { queueLockedAt } from "../../queue/sql/lock.ts";
import { milliseconds } from "../../queue/sql/moments.ts";
import { SMALL_TABLE_PAGES } from "../stats/count-query.ts";
import type { Gauge } from "../stats/gauge.ts";

/** How long no job was locked or finished, in milliseconds; null if unknown. */
export type ActivityWatch = (db: Database, gauge: Gauge) => Promise<number | null>;

// Adding with a key also updates rows: where locks are read, only deletions count.
const writesOf = ({ pages, updated, deleted }: Gauge) =>
  pages <= SMALL_TABLE_PAGES ? deleted : updated + deleted;

export function createActivityWatch(): ActivityWatch {
  let last: { readonly writes: number; readonly sinceMs: number } | null = null;
  return async (db, gauge) => {
    const { nowMs, pages } = gauge;
    const writes = writesOf(gauge);
    const isFirst = last === null;
    if (last === null || last.writes !== writes) last = { writes, sinceMs: nowMs };
    if (pages > SMALL_TABLE_PAGES) return isFirst ? null : nowMs - last.sinceMs;
    const [row] = await query<{ last_ms: string | null }>(db, lastSql);
    const lastMs = row?.last_ms == null ? Number.NEGATIVE_INFINITY : Number(row.last_ms);
    // Deletions before the first call are unknown: only the locks count.
    return Math.max(0, nowMs - Math.max(lastMs, isFirst ? lastMs : last.sinceMs));
  };
}

const lastSql: Statement = (s) => `
  select ${milliseconds(`greatest(
      (select pg_catalog.max(${queueLockedAt("queues")}) from ${s}._private_job_queues as queues),
      pg_catalog.max(locked_at),
      pg_catalog.max(updated_at) filter (where last_error is not null and attempts < max_attempts)
    )`)} as last_ms
  from ${s}._private_jobs
  where locked_at is not null or attempts > 0`;
