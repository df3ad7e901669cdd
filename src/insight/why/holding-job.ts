// Finds the running job of a locked named queue, and counts the fetched jobs that will start before a given job of the
// queue. The queue's row names only the worker that has locked the queue (the holder), and only an optional index finds
// the jobs that a worker has locked. So these jobs are read only if the worker's heartbeat lists their ids, or if the
// table has at most QUICK_PAGES pages.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isInCondition } from "../expressions/condition.ts";
import type { Heartbeats } from "../expressions/heartbeats.ts";
import type { Holder } from "./holders.ts";
import type { WhyFacts } from "./job-facts.ts";
import type { JobTableFacts } from "./table-facts.ts";

export interface HoldingJob {
  readonly id: string;
  readonly task: string | null;
  readonly attempts: number;
  readonly maxAttempts: number;
}

export async function readHoldingJob(
  db: Database,
  queueId: number,
  holder: Holder,
  table: JobTableFacts,
): Promise<HoldingJob | null> {
  const { workerId, runningJobIds } = holder;
  const found =
    runningJobIds.length === 0
      ? []
      : await query<HoldingRow>(db, listedSql, [queueId, workerId, runningJobIds]);
  const isReadable = found.length === 0 && table.pages <= QUICK_PAGES;
  const any = () => query<HoldingRow>(db, anySql(heartbeatsIn(db, table)), [queueId, workerId]);
  const [row] = isReadable ? await any() : found;
  if (row === undefined) return null;
  const { id, task, attempts, max_attempts: maxAttempts } = row;
  return { id, task, attempts, maxAttempts };
}

/** The maximum size of a table that is read whole, in pages. Reading a table of this size takes about 15 ms. */
const QUICK_PAGES = 1_024;

interface HoldingRow {
  readonly id: string;
  readonly task: string | null;
  readonly attempts: number;
  readonly max_attempts: number;
}

/**
 * Returns how many fetched jobs of the queue the holder will start before the given job; null if only a scan of a table
 * of more than QUICK_PAGES pages would find them.
 */
export async function readFetchedBefore(
  db: Database,
  queueId: number,
  { id, priority, runAtText }: Pick<WhyFacts, "id" | "priority" | "runAtText">,
  { workerId, fetchedJobIds }: Holder,
  table: JobTableFacts,
): Promise<number | null> {
  if (fetchedJobIds === null && table.pages > QUICK_PAGES) return null;
  const values = [queueId, workerId, fetchedJobIds, priority, runAtText, id];
  const statement = beforeSql(heartbeatsIn(db, table));
  const [row] = await query<{ before: string }>(db, statement, values);
  return Number(row?.before ?? 0);
}

const heartbeatsIn = ({ schema }: Database, { hasWorkers }: JobTableFacts): Heartbeats =>
  hasWorkers ? schema.quoted : null;

const beforeSql =
  (heartbeats: Heartbeats): Statement =>
  (s) =>
    `
  select pg_catalog.count(*) as before from ${s}._private_jobs as jobs
  where jobs.job_queue_id = $1::int and jobs.locked_by = $2::text
  and ($3::bigint[] is null or jobs.id = any($3::bigint[]))
  and (jobs.priority, jobs.run_at, jobs.id) < ($4::smallint, $5::timestamptz, $6::bigint)
  and ${isInCondition("fetched", "jobs", heartbeats, "")}`;

const holdingSql =
  (condition: string): Statement =>
  (s) =>
    `
  select jobs.id, tasks.identifier as task, jobs.attempts, jobs.max_attempts
  from ${s}._private_jobs as jobs
  left join ${s}._private_tasks as tasks on tasks.id = jobs.task_id
  where jobs.job_queue_id = $1::int and jobs.locked_by = $2::text and ${condition}
  order by jobs.id limit 1`;

const listedSql = holdingSql("jobs.id = any($3::bigint[])");
const anySql = (heartbeats: Heartbeats) =>
  holdingSql(isInCondition("running", "jobs", heartbeats, ""));
