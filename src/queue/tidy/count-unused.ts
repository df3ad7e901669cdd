// How many tasks and queues a cleanup would find without a job, from the ids of those that are known to
// have one: nobody reads the jobs for it.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasWorkerTable } from "../workers/worker-table.ts";
import { isOfNoWorker } from "./unused-names.ts";

/** Tasks but those of `used`, and those that workers name. */
export async function countUnusedTasks(db: Database, used: readonly number[]): Promise<number> {
  return count(db, unusedTasksSql(await hasWorkerTable(db)), used);
}

/** Queues that are not locked, but those of `used`. */
export function countUnusedQueues(db: Database, used: readonly number[]): Promise<number> {
  return count(db, unusedQueuesSql, used);
}

async function count(db: Database, statement: Statement, used: readonly number[]): Promise<number> {
  const [row] = await query<{ count: string }>(db, statement, [used]);
  return Number(row?.count ?? 0);
}

// Joined: a list of thousands would be searched from its beginning for every row.
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
