// Counts the tasks and queues that a cleanup would delete. The caller passes the ids that are in use, so no jobs are
// read.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import { reportedWorkers } from "../expressions/reported-workers.ts";

/** Returns the number of tasks that are not in `used` and that no worker reports. */
export async function countUnusedTasks(db: Database, used: readonly number[]): Promise<number> {
  return count(db, unusedTasksSql(await hasWorkerTable(db)), used);
}

/** Returns the number of queues that are not locked and not in `used`. */
export function countUnusedQueues(db: Database, used: readonly number[]): Promise<number> {
  return count(db, unusedQueuesSql, used);
}

async function count(db: Database, statement: Statement, used: readonly number[]): Promise<number> {
  const [row] = await query<{ count: string }>(db, statement, [used]);
  return Number(row?.count ?? 0);
}

// The ids are joined, because PostgreSQL would search a list of thousands from its beginning for every row.
const unusedTasksSql =
  (heartbeats: boolean): Statement =>
  (schema) =>
    `
  select pg_catalog.count(*) as count from ${schema}._private_tasks as tasks
  where not exists (select from pg_catalog.unnest($1::int[]) as used (id) where used.id = tasks.id)
  ${heartbeats ? `and ${isOfNoWorker(schema, "tasks")}` : ""}`;

const unusedQueuesSql: Statement = (schema) => `
  select pg_catalog.count(*) as count from ${schema}._private_job_queues as queues
  where queues.locked_at is null
  and not exists (select from pg_catalog.unnest($1::int[]) as used (id) where used.id = queues.id)`;

/**
 * Returns a condition: no worker has reported the task. A worker's row exists as long as the worker does, or until its
 * jobs are recovered. A worker with too many tasks for its report may have any task; so may a worker whose report is
 * too long to be read.
 */
export const isOfNoWorker = (schema: string, task: string): string => `not exists (
      select from ${reportedWorkers(schema)} as workers
      where workers.is_cut or workers.metadata -> 'tasks_cut'::text = 'true'::jsonb
    ) and not exists (
      select from ${reportedWorkers(schema)} as workers
      cross join lateral pg_catalog.jsonb_array_elements_text(
        case when pg_catalog.jsonb_typeof(workers.metadata -> 'task_identifiers'::text) = 'array'
          then workers.metadata -> 'task_identifiers'::text else '[]'::jsonb end) as named (task)
      where named.task = ${task}.identifier
    )`;
