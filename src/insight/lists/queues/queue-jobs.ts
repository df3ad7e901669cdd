// The jobs of one named queue: the next jobs in execution order, the newest jobs, and the running job. A large table
// without the optional indexes `queue_ready` and `queue` is searched for a short time, and a cursor can continue the
// search.
import { type Database, query, type Statement } from "../../../database/database.ts";
import { usableIndexes } from "../../../database/schema/indexes/usable-indexes.ts";
import { isAvailable, isDue } from "../../../queue/sql/eligible.ts";
import { isLocked } from "../../../queue/sql/job-state.ts";
import { microseconds } from "../../../queue/sql/moments.ts";
import { findPage } from "../../pages/walk-jobs.ts";
import type { JobSort } from "../../walk/order.ts";
import { reachOf } from "../lock-holders.ts";

export interface QueuedJob {
  readonly id: string;
  readonly task: string | null;
  readonly priority: number;
  readonly attempts: number;
  readonly max_attempts: number;
  /** The members `…_us` are times in microseconds since 1970. */
  readonly run_at_us: string;
  readonly created_at_us: string;
  readonly locked_at_us: string | null;
}

export interface QueuedJobs {
  readonly jobs: readonly QueuedJob[];
  /** Whether `jobs` has all jobs, or as many as requested. */
  readonly isComplete: boolean;
  /**
   * The cursor with which listJobs() continues this list. The filter must also have the queue's name and, after
   * nextJobs(), the query `is:due` and the order `priority`; after latestJobs(), the order `-id`. null: nothing is
   * left, or the jobs were read directly.
   */
  readonly nextCursor: string | null;
}

interface NamedQueue {
  readonly id: number;
  readonly queueName: string;
}

const whole = (jobs: readonly QueuedJob[]): QueuedJobs => ({
  jobs,
  isComplete: true,
  nextCursor: null,
});

const columns = (s: string, found: string) => `
  select jobs.id, tasks.identifier as task, jobs.priority, jobs.attempts, jobs.max_attempts,
    ${microseconds("jobs.run_at")} as run_at_us,
    ${microseconds("jobs.created_at")} as created_at_us,
    ${microseconds("jobs.locked_at")} as locked_at_us
  from ${found}
  join ${s}._private_jobs as jobs on jobs.id = found.id
  left join ${s}._private_tasks as tasks on tasks.id = jobs.task_id`;

const isInQueue = "jobs.job_queue_id is not null and jobs.job_queue_id = $1::int";
const inOrder = "order by jobs.priority, jobs.run_at, jobs.id";

const nextSql: Statement = (s) => `
  with found as materialized (
    select jobs.id from ${s}._private_jobs as jobs
    where ${isAvailable("jobs")} and ${isInQueue} and ${isDue("jobs")}
    ${inOrder} limit $2::int
  )
  ${columns(s, "found")} ${inOrder}`;

/** Returns the first due jobs, in execution order. */
export async function nextJobs(
  db: Database,
  queue: NamedQueue,
  limit: number,
): Promise<QueuedJobs> {
  const isDirect = (await reachOf(db)).isSmall || (await usableIndexes(db)).has("queue_ready");
  if (!isDirect) return walkedTo(db, "priority", "is:due", queue, limit);
  return whole(await query<QueuedJob>(db, nextSql, [queue.id, limit]));
}

const latestSql: Statement = (s) => `
  with found as materialized (
    select jobs.id from ${s}._private_jobs as jobs
    where ${isInQueue}
    order by jobs.id desc limit $2::int
  )
  ${columns(s, "found")} order by jobs.id desc`;

/** Returns the newest jobs, newest first. */
export async function latestJobs(
  db: Database,
  queue: NamedQueue,
  limit: number,
): Promise<QueuedJobs> {
  const isDirect = (await reachOf(db)).isSmall || (await usableIndexes(db)).has("queue");
  if (!isDirect) return walkedTo(db, "-id", "", queue, limit);
  return whole(await query<QueuedJob>(db, latestSql, [queue.id, limit]));
}

const BUDGET_MS = 100;

async function walkedTo(
  db: Database,
  sort: JobSort,
  q: string,
  { queueName }: NamedQueue,
  limit: number,
): Promise<QueuedJobs> {
  const page = await findPage(db, { queue: queueName, q, sort, limit }, BUDGET_MS);
  const { ids, report } = page;
  const rows = ids.length === 0 ? [] : await query<QueuedJob>(db, ofIdsSql, [ids]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const jobs = ids.flatMap((id) => byId.get(id) ?? []);
  return { jobs, isComplete: report.isComplete, nextCursor: page.cursorAfter(ids.length) };
}

const ofIdsSql: Statement = (s) =>
  columns(s, "(select pg_catalog.unnest($1::bigint[]) as id) as found");

// A worker can lock several jobs of a queue, and runs them in order. So the first locked job is the running job.
const runningSql: Statement = (s) => `
  with found as materialized (
    select jobs.id from ${s}._private_jobs as jobs
    where ${isLocked("jobs")} and ${isInQueue} and ($2::bigint[] is null or jobs.id = any($2::bigint[]))
    order by jobs.locked_at, jobs.priority, jobs.run_at, jobs.id limit 1
  )
  ${columns(s, "found")}`;

/**
 * Returns the queue's job with the oldest lock. `reported`: the ids of the jobs that the queue's worker has reported.
 * In a large table without the index `running`, only these jobs are read.
 */
export async function runningJob(
  db: Database,
  queueId: number,
  reported: readonly string[],
): Promise<QueuedJob | null> {
  const { findsLocked } = await reachOf(db);
  if (!findsLocked && reported.length === 0) return null;
  const [row] = await query<QueuedJob>(db, runningSql, [queueId, findsLocked ? null : reported]);
  return row ?? null;
}
