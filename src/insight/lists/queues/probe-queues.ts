// Counts the due and the future jobs of some queues, with the optional index `queue_ready`.
import { type Database, query, type Statement } from "../../../database/database.ts";
import { usableIndexes } from "../../../database/schema/indexes/usable-indexes.ts";
import { cappedValue, exactValue, type Value } from "../../../domain/value.ts";
import { isAvailable, isDue } from "../../../queue/sql/eligible.ts";
import { milliseconds, timeText } from "../../../queue/sql/moments.ts";
import type { QueueCounts } from "../counted-names.ts";

/** The maximum number of due and future jobs of one queue that are counted exactly. */
const CAP = 200;

type ProbedCounts = Pick<QueueCounts, "ready" | "scheduled" | "oldestReadyMs">;

/**
 * Probes the index for the queues `ids`. Returns a function that improves the `counts` of one of these queues; null if
 * `ids` is empty or the index cannot be used. If a queue has at most CAP due and future jobs, the probed counts are
 * exact. If a queue has more, the probed counts are lower bounds, which replace only counts with a smaller lower bound.
 */
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

/** The probe may miss the oldest job, because the index is ordered by priority. */
const earlier = (one: number | null, other: number | null) =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

interface ProbeRow {
  readonly id: number;
  readonly due: number;
  readonly ahead: number;
  readonly oldest_ms: string | null;
  readonly now_ms: string;
}

// The rows are read in the order of the index, so nothing is sorted.
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
