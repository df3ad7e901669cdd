// The jobs of one named queue: those that run next, in the order in which they will, those that were
// added last, and the one that runs. Where no index leads to a queue's jobs and the table is large, the
// head of the work and the newest jobs are looked through, up to a bound, and what was not seen is said.
import { type Database, query, type Statement } from "../../../database/database.ts";
import { usableIndexes } from "../../../database/schema/indexes/usable-indexes.ts";
import { isAvailable, isDue } from "../../sql/eligible.ts";
import { isLocked } from "../../sql/job-state.ts";
import { microseconds } from "../../sql/moments.ts";
import { MOST_PRIORITIES, priorities } from "../../sql/priorities.ts";
import { reachOf } from "../lock-holders.ts";

export interface QueuedJob {
  readonly id: string;
  readonly task: string | null;
  readonly priority: number;
  readonly attempts: number;
  readonly max_attempts: number;
  /** Microseconds since 1970. */
  readonly run_at_us: string;
  readonly created_at_us: string;
  readonly locked_at_us: string | null;
}

/** Whether the list has all there is up to its limit; else there may be more that was not looked at. */
export interface QueuedJobs {
  readonly jobs: readonly QueuedJob[];
  readonly isComplete: boolean;
}

/** Of each priority's due jobs, and of the newest jobs: index and heap pages for some 50 ms. */
const LOOKED_AT = 10_000;

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

// Index only: who is of the queue stands in the index that jobs are taken from.
const nextInHeadSql: Statement = (s) => `
  with recursive ${priorities(s)}, head as materialized (
    select head.* from priorities, lateral (
      select jobs.id, jobs.job_queue_id, jobs.priority, jobs.run_at,
        row_number() over (order by jobs.run_at) as place
      from ${s}._private_jobs as jobs
      where ${isAvailable("jobs")} and jobs.priority = priorities.priority and ${isDue("jobs")}
      order by jobs.run_at limit ${LOOKED_AT}
    ) as head
  ), found as materialized (
    select jobs.id from head as jobs where ${isInQueue} ${inOrder} limit $2::int
  ), seen as materialized (
    select coalesce(max(place), 0) < ${LOOKED_AT}
      and (select count(priority) < ${MOST_PRIORITIES} from priorities) as is_whole
    from head
  )
  select jobs.*, seen.is_whole from seen left join (${columns(s, "found")}
  ) as jobs on true ${inOrder.replaceAll("jobs.run_at", "jobs.run_at_us")}`;

/** Those that are due, in the order in which they will run. */
export async function nextJobs(db: Database, queueId: number, limit: number): Promise<QueuedJobs> {
  const isDirect = (await reachOf(db)).isSmall || (await usableIndexes(db)).has("queue_ready");
  const statement = isDirect ? nextSql : nextInHeadSql;
  return answered(await query<SeenRow>(db, statement, [queueId, limit]), limit);
}

const latestSql: Statement = (s) => `
  with found as materialized (
    select jobs.id from ${s}._private_jobs as jobs
    where ${isInQueue}
    order by jobs.id desc limit $2::int
  )
  ${columns(s, "found")} order by jobs.id desc`;

const latestOfNewestSql: Statement = (s) => `
  with newest as materialized (
    select jobs.id, jobs.job_queue_id from ${s}._private_jobs as jobs
    order by jobs.id desc limit ${LOOKED_AT}
  ), found as materialized (
    select jobs.id from newest as jobs where ${isInQueue} order by jobs.id desc limit $2::int
  ), seen as materialized (select count(*) < ${LOOKED_AT} as is_whole from newest)
  select jobs.*, seen.is_whole from seen left join (${columns(s, "found")}
  ) as jobs on true order by jobs.id desc`;

/** Those that were added last, the newest first. */
export async function latestJobs(
  db: Database,
  queueId: number,
  limit: number,
): Promise<QueuedJobs> {
  const isDirect = (await reachOf(db)).isSmall || (await usableIndexes(db)).has("queue");
  const statement = isDirect ? latestSql : latestOfNewestSql;
  return answered(await query<SeenRow>(db, statement, [queueId, limit]), limit);
}

interface SeenRow extends Omit<QueuedJob, "id"> {
  /** null in the one row of an answer without jobs. */
  readonly id: string | null;
  /** Absent where everything was looked at. */
  readonly is_whole?: boolean;
}

function answered(rows: readonly SeenRow[], limit: number): QueuedJobs {
  const jobs = rows.flatMap(({ id, is_whole: _, ...row }) => (id === null ? [] : [{ id, ...row }]));
  return { jobs, isComplete: jobs.length >= limit || rows[0]?.is_whole !== false };
}

const runningSql: Statement = (s) => `
  with found as materialized (
    select jobs.id from ${s}._private_jobs as jobs
    where ${isLocked("jobs")} and ${isInQueue} and ($2::bigint[] is null or jobs.id = any($2::bigint[]))
    order by jobs.locked_at limit 1
  )
  ${columns(s, "found")}`;

/** The job of the queue that runs; `reported`: what its holder says that it runs, if anything. */
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
