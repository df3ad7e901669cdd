// Counts the due jobs of each task and of given named queues, and finds when the first of them became due. The
// statement reads at most MAX_ENTRIES entries of the index from which workers fetch, and takes about 0.1 s.
import { type Database, query, type Statement } from "../../database/database.ts";
import { dateOf } from "../../queue/sql/moments.ts";
import { MAX_PRIORITIES, priorities } from "../read/priorities.ts";

export interface WaitingJobs {
  readonly count: number;
  readonly oldestMs: number;
}

export interface DueHead {
  /**
   * The due jobs of each queue in `stuckQueueIds`, by the queue's id. `trend`: how many of the counted jobs were due at
   * the end of each of the last 24 periods of 7.5 minutes.
   */
  readonly queues: ReadonlyMap<number, WaitingJobs & { readonly trend: readonly number[] }>;
  /** The due jobs of each task, by the task's id. Jobs of queues in `lockedQueueIds` are left out. */
  readonly tasks: ReadonlyMap<number, WaitingJobs>;
  /** Whether all due jobs were read. */
  readonly isWhole: boolean;
}

const MAX_ENTRIES = 50_000;
const MAX_GROUPS = 20_000;
const TREND_PARTS = 24;
const TREND_PART_MS = (3 * 3_600_000) / TREND_PARTS;

const headSql: Statement = (s) => `
  with recursive ${priorities(s)}, share as (
    select (${MAX_ENTRIES} / greatest(pg_catalog.count(*), 1))::int as entries
    from priorities where priority is not null
  ), head as (
    select priorities.priority, due.task_id, due.run_at,
      case when due.job_queue_id = any($1::int[]) then due.job_queue_id end as queue_id,
      coalesce(due.job_queue_id = any($2::int[]), false) as is_blocked,
      case when due.job_queue_id = any($1::int[])
        then pg_catalog.width_bucket(due.run_at, $3::timestamptz[]) end as part
    from priorities, lateral (
      select jobs.task_id, jobs.job_queue_id, jobs.run_at from ${s}._private_jobs as jobs
      where jobs.is_available and jobs.priority = priorities.priority and jobs.run_at <= pg_catalog.now()
      order by jobs.run_at limit (select entries from share)
    ) as due
    where priorities.priority is not null
  )
  select grouping(queue_id, task_id, priority) as question, queue_id, part, task_id, is_blocked,
    pg_catalog.count(*) as count, pg_catalog.date_part('epoch', pg_catalog.min(run_at)) as oldest_s,
    (select entries from share) as entries,
    (select pg_catalog.count(priority) < ${MAX_PRIORITIES} from priorities) as has_all_priorities
  from head
  group by grouping sets ((), (queue_id, part), (task_id, is_blocked), (priority))
  limit ${MAX_GROUPS}`;

interface HeadRow {
  /** The grouping of the row: by queue and part (3), by task and `is_blocked` (5), by priority (6), or none (7). */
  readonly question: number;
  readonly queue_id: number | null;
  readonly part: number | null;
  readonly task_id: number | null;
  readonly is_blocked: boolean | null;
  readonly count: string;
  readonly oldest_s: number | null;
  readonly entries: number;
  readonly has_all_priorities: boolean;
}

export async function readDueHead(
  db: Database,
  stuckQueueIds: readonly number[],
  lockedQueueIds: readonly number[],
  nowMs: number,
): Promise<DueHead> {
  const parts = Array.from({ length: TREND_PARTS - 1 }, (_, n) =>
    new Date(nowMs - (TREND_PARTS - 1 - n) * TREND_PART_MS).toISOString(),
  );
  const rows = await query<HeadRow>(db, headSql, [stuckQueueIds, lockedQueueIds, parts]);
  const queues = new Map<number, { count: number; oldestMs: number; trend: number[] }>();
  const tasks = new Map<number, WaitingJobs>();
  const isCut = rows.length === MAX_GROUPS;
  let isWhole = !isCut && rows.some((row) => row.question === 7 && row.has_all_priorities);
  for (const row of rows) {
    const count = Number(row.count);
    // dateOf() limits the time to the range of a Date.
    const oldestMs = dateOf(Math.floor((row.oldest_s ?? 0) * 1_000_000)).getTime();
    if (row.question === 6 && count >= row.entries) isWhole = false;
    if (row.question === 5 && row.task_id !== null && row.is_blocked === false) {
      tasks.set(row.task_id, { count, oldestMs });
    }
    if (row.question === 3 && row.queue_id !== null && row.part !== null) {
      const queue = queues.get(row.queue_id) ?? newQueue();
      queues.set(row.queue_id, queue);
      queue.count += count;
      queue.oldestMs = Math.min(queue.oldestMs, oldestMs);
      // A job that became due in this part was due in all later parts, too.
      for (let part = row.part; part < TREND_PARTS; part++) {
        queue.trend[part] = (queue.trend[part] ?? 0) + count;
      }
    }
  }
  return { queues, tasks, isWhole };
}

const newQueue = () => ({
  count: 0,
  oldestMs: Number.POSITIVE_INFINITY,
  trend: new Array<number>(TREND_PARTS).fill(0),
});
