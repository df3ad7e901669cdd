// Fills in the names of tasks and queues that came into being together with the job.
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import type { JobRow } from "./job-row.ts";

interface NameRow {
  readonly is_task: boolean;
  readonly id: number;
  readonly name: string;
}

/**
 * A statement does not see the rows that functions called by it have inserted, so the join of a
 * newly added job finds no new task and no new queue. Only then does this ask once more.
 */
export async function withNames<R extends JobRow>(db: Database, rows: readonly R[]): Promise<R[]> {
  const taskIds = new Set<number>();
  const queueIds = new Set<number>();
  for (const row of rows) {
    if (row.task_identifier === null) taskIds.add(row.task_id);
    if (row.queue_name === null && row.job_queue_id !== null) queueIds.add(row.job_queue_id);
  }
  if (taskIds.size === 0 && queueIds.size === 0) return [...rows];
  const found = await query<NameRow>(db, namesSql, [[...taskIds], [...queueIds]]);
  const names = new Map(found.map((row) => [`${row.is_task} ${row.id}`, row.name]));
  return rows.map((row) => ({
    ...row,
    task_identifier: row.task_identifier ?? names.get(`true ${row.task_id}`) ?? null,
    queue_name: row.queue_name ?? names.get(`false ${row.job_queue_id}`) ?? null,
  }));
}

const namesSql: Statement = (schema) => `
  select true as is_task, id, identifier as name
  from ${schema}._private_tasks
  where id = any($1::int[])
  union all
  select false, id, queue_name
  from ${schema}._private_job_queues
  where id = any($2::int[])`;
