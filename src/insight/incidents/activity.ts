// Whether any worker is at work, also one that sends no heartbeats: since when no job was locked or
// finished. A small table is asked for its newest lock and failure; of a large one only PostgreSQL's
// counters of written rows are compared, from call to call.
import { type Database, query, type Statement } from "../../database/database.ts";
import { milliseconds } from "../../queue/sql/moments.ts";
import { SMALL_TABLE_PAGES } from "../stats/count-query.ts";
import type { Gauge } from "../stats/gauge.ts";

/** For how long nothing was locked or finished, milliseconds; null: not known. */
export type ActivityWatch = (db: Database, gauge: Gauge) => Promise<number | null>;

// Adding with a key updates rows: where locks are read, only deletions are counted.
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
    // Of what was deleted before the first call nothing is known: the locks alone are the evidence.
    return Math.max(0, nowMs - Math.max(lastMs, isFirst ? lastMs : last.sinceMs));
  };
}

const lastSql: Statement = (s) => `
  select ${milliseconds(`greatest(
      (select pg_catalog.max(locked_at) from ${s}._private_job_queues),
      pg_catalog.max(locked_at),
      pg_catalog.max(updated_at) filter (where last_error is not null and attempts < max_attempts)
    )`)} as last_ms
  from ${s}._private_jobs
  where locked_at is not null or attempts > 0`;
