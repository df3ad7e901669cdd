// The numbers of due and future jobs in some queues, from the optional index `queue_ready`. They are exact for queues
// with up to CAP such jobs, and lower bounds for others.
import { type Database, query, type Statement } from "../../../database/database.ts";
import { usableIndexes } from "../../../database/schema/indexes/usable-indexes.ts";
import { cappedValue, exactValue, type Value } from "../../../domain/value.ts";
import { isAvailable, isDue } from "../../../queue/sql/eligible.ts";
import { milliseconds, timeText } from "../../../queue/sql/moments.ts";
import type { QueueCounts } from "../counted-names.ts";

/** The limit of exact numbers, for one queue. For a page of 50 queues, up to 50 times as many entries are read. */
const CAP = 200;

type ProbedCounts = Pick<QueueCounts, "ready" | "scheduled" | "oldestReadyMs">;

/** Returns a function that returns the more precise of a queue's probed counts and `counts`; null without the index. */
export async function probedCounts(
  db: Database,
  ids: readonly number[],
): Promise<((id: number, counts: QueueCounts) => ProbedCounts | object) | null> {
  if (ids.length === 0 || !(await usableIndexes(db)).has("queue_ready")) return null;
  const rows = await query<ProbeRow>(db, probeSql, [ids]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return (id, counts) => {
    const row = byId.get(id);
    if (row === undefined) return {};
    const asOf = timeText(Number(row.now_ms) * 1_000);
    const isWhole = row.due + row.ahead <= CAP;
    const oldestMs = row.oldest_ms === null ? null : Number(row.oldest_ms);
    const better = (n: number, known: Value) => {
      if (isWhole) return exactValue(n, "probe", asOf);
      return (known.low ?? known.value) >= n ? known : cappedValue(n, "probe", asOf);
    };
    return {
      ready: better(row.due, counts.ready),
      scheduled: better(row.ahead, counts.scheduled),
      oldestReadyMs: isWhole ? oldestMs : earlier(oldestMs, counts.oldestReadyMs),
    };
  };
}

/** Returns the earlier time. The oldest job may not have been read, because the index is ordered by priority first. */
const earlier = (one: number | null, other: number | null) =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

interface ProbeRow {
  readonly id: number;
  readonly due: number;
  readonly ahead: number;
  readonly oldest_ms: string | null;
  readonly now_ms: string;
}

// The order is that of the index. So nothing is sorted, and of each queue at most CAP + 1 entries are read.
const probeSql: Statement = (s) => `
  select queue.id,
    pg_catalog.count(*) filter (where waiting.is_due)::int as due,
    pg_catalog.count(*) filter (where not waiting.is_due)::int as ahead,
    ${milliseconds("pg_catalog.min(waiting.run_at) filter (where waiting.is_due)")} as oldest_ms,
    ${milliseconds("pg_catalog.now()")} as now_ms
  from pg_catalog.unnest($1::int[]) as queue (id)
  left join lateral (
    select ${isDue("jobs")} as is_due, jobs.run_at
    from ${s}._private_jobs as jobs
    where ${isAvailable("jobs")} and jobs.job_queue_id is not null
      and jobs.job_queue_id = queue.id
    order by jobs.priority, jobs.run_at
    limit ${CAP + 1}
  ) as waiting on true
  group by queue.id`;
