// Counts the due jobs of each queue or task in a large table, from the head of the index from which workers fetch: the
// first 5,000 due jobs of each of the first 32 priorities. If the head has all due jobs, the counts are exact. If not,
// the counts are lower bounds.
import { monotonic } from "../../base/clock.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { cappedValue, exactValue, type Value } from "../../domain/value.ts";
import { isAvailable, isDue } from "../../queue/sql/eligible.ts";
import { milliseconds, timeText } from "../../queue/sql/moments.ts";
import { MAX_PRIORITIES, priorities } from "../read/priorities.ts";

/** The due jobs of each queue or task, by its id. */
export interface HeadCounts {
  /** Returns the earliest run_at of the due jobs in the head, in milliseconds since 1970; null if there are none. */
  oldestMs(id: number): number | null;
  /**
   * Returns the number of due jobs: the count in the head, if exact or greater than the lower bound of `value`; if not,
   * `value`.
   */
  morePrecise(id: number, value: Value): Value;
}

const MAX_SCANNED = 5_000;
/** Counts are cached, because a client may read several pages in a row. */
const MIN_CACHED_MS = 3_000;
const CACHE_FACTOR = 20;

type Kind = "queue" | "task";

interface CachedCounts {
  readonly until: number;
  readonly counts: HeadCounts;
}

// The keys are the objects in `db.schema`, which all reads of one admin share.
const caches = {
  queue: new WeakMap<object, CachedCounts>(),
  task: new WeakMap<object, CachedCounts>(),
};

export async function headCounts(db: Database, kind: Kind): Promise<HeadCounts> {
  const cached = caches[kind].get(db.schema);
  if (cached !== undefined && monotonic() < cached.until) return cached.counts;
  const began = monotonic();
  const counts = await readHead(db, kind);
  const cachedMs = Math.max(MIN_CACHED_MS, CACHE_FACTOR * (monotonic() - began));
  caches[kind].set(db.schema, { until: monotonic() + cachedMs, counts });
  return counts;
}

async function readHead(db: Database, kind: Kind): Promise<HeadCounts> {
  const [row] = await query<HeadRow>(db, kind === "queue" ? queuesSql : tasksSql);
  const ids = JSON.parse(row?.ids ?? "[]") as number[];
  const counts = JSON.parse(row?.counts ?? "[]") as number[];
  // In JSON an infinite time is a string.
  const oldest = (JSON.parse(row?.oldest ?? "[]") as (number | string)[]).map(Number);
  const indexes = new Map(ids.map((id, index) => [id, index]));
  const countOf = (id: number) => counts[indexes.get(id) ?? -1] ?? 0;
  const asOf = timeText(Number(row?.now_ms ?? 0) * 1_000);
  return {
    oldestMs: (id) => oldest[indexes.get(id) ?? -1] ?? null,
    morePrecise(id, value) {
      const count = countOf(id);
      if (row?.is_whole === true) return exactValue(count, "probe", asOf);
      return (value.low ?? value.value) >= count ? value : cappedValue(count, "probe", asOf);
    },
  };
}

interface HeadRow {
  readonly ids: string | null;
  readonly counts: string | null;
  readonly oldest: string | null;
  readonly is_whole: boolean;
  readonly now_ms: string;
}

const headSql =
  (column: "job_queue_id" | "task_id"): Statement =>
  (s) =>
    `
  with recursive ${priorities(s)}, head as materialized (
    select head.* from priorities, lateral (
      select jobs.${column} as id, jobs.run_at, pg_catalog.row_number() over (order by jobs.run_at) as place
      from ${s}._private_jobs as jobs
      where ${isAvailable("jobs")} and jobs.priority = priorities.priority and ${isDue("jobs")}
      order by jobs.run_at limit ${MAX_SCANNED}
    ) as head
  ), counted as (
    select id, pg_catalog.count(*) as count, ${milliseconds("pg_catalog.min(run_at)")} as oldest_ms
    from head where id is not null group by id
  )
  select pg_catalog.json_agg(id)::text as ids, pg_catalog.json_agg(count)::text as counts,
    pg_catalog.json_agg(oldest_ms)::text as oldest,
    (select coalesce(pg_catalog.max(place), 0) < ${MAX_SCANNED} from head)
      and (select pg_catalog.count(priority) < ${MAX_PRIORITIES} from priorities) as is_whole,
    ${milliseconds("pg_catalog.now()")} as now_ms
  from counted`;

const queuesSql = headSql("job_queue_id");
const tasksSql = headSql("task_id");
