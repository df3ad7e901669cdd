// Which job holds a named queue. The queue's row says only who; which of the holder's jobs it is stands
// in the rows of jobs, where no index leads to it: so it is looked up where the holder lists what it
// runs, or where reading all rows costs nothing. Else nobody says.
import { type Database, query, type Statement } from "../../database/database.ts";
import type { Holder } from "./holders.ts";
import type { TableFacts } from "./table-facts.ts";

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
  table: TableFacts,
): Promise<HoldingJob | null> {
  const { workerId, runningJobIds } = holder;
  const found =
    runningJobIds.length === 0
      ? []
      : await query<HoldingRow>(db, listedSql, [queueId, workerId, runningJobIds]);
  const isReadable = found.length === 0 && table.pages <= QUICK_PAGES;
  const [row] = isReadable ? await query<HoldingRow>(db, anySql, [queueId, workerId]) : found;
  if (row === undefined) return null;
  const { id, task, attempts, max_attempts: maxAttempts } = row;
  return { id, task, attempts, maxAttempts };
}

/** Read whole in about 15 ms. */
const QUICK_PAGES = 1_024;

interface HoldingRow {
  readonly id: string;
  readonly task: string | null;
  readonly attempts: number;
  readonly max_attempts: number;
}

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
const anySql = holdingSql("jobs.locked_at is not null and not jobs.is_available");
