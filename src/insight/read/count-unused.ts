// Counts the tasks and queues that a cleanup would delete, from the ids that are in use, so that the jobs
// need not be read.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isOfNoWorker } from "../../queue/tidy/unused-names.ts";
import { hasWorkerTable } from "../../queue/workers/worker-table.ts";

/** Tasks that are not in `used`, and that no worker reports. */
export async function countUnusedTasks(db: Database, used: readonly number[]): Promise<number> {
  return count(db, unusedTasksSql(await hasWorkerTable(db)), used);
}

/** Queues that are not locked and not in `used`. */
export function countUnusedQueues(db: Database, used: readonly number[]): Promise<number> {
  return count(db, unusedQueuesSql, used);
}

async function count(db: Database, statement: Statement, used: readonly number[]): Promise<number> {
  const [row] = await query<{ count: string }>(db, statement, [used]);
  return Number(row?.count ?? 0);
}

// Joined, because a list of thousands would be searched from its beginning for every row.
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
