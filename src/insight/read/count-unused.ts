// Reads how many tasks and named queues a cleanup would delete, and the first of their names. The caller passes the ids
// of those that have jobs, so the table of jobs is not read.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import { reportedWorkers } from "../expressions/reported-workers.ts";

export interface UnusedNames {
  readonly count: number;
  /** The first ten names in alphabetical order. */
  readonly names: readonly string[];
}

/**
 * Returns the tasks that are not in `used` and that no worker reports; none if a worker's report is incomplete or too
 * large.
 */
export async function readUnusedTasks(db: Database, used: readonly number[]): Promise<UnusedNames> {
  return readUnused(db, unusedTasksSql(await hasWorkerTable(db)), used);
}

/** Returns the queues that are not in `used`, and that no worker, pause or limit has locked. */
export function readUnusedQueues(db: Database, used: readonly number[]): Promise<UnusedNames> {
  return readUnused(db, unusedQueuesSql, used);
}

async function readUnused(
  db: Database,
  statement: Statement,
  used: readonly number[],
): Promise<UnusedNames> {
  const [row] = await query<{ count: string; names: string }>(db, statement, [used]);
  return { count: Number(row?.count ?? 0), names: JSON.parse(row?.names ?? "[]") };
}

const firstNames = (rows: string) => `
  with unused as (${rows}), first as (select name from unused order by name limit 10)
  select (select pg_catalog.count(*) from unused) as count,
    (select coalesce(pg_catalog.json_agg(name order by name), '[]')::text from first) as names`;

// The ids are turned into rows, which PostgreSQL can join. An array could be searched from its beginning for each row.
const unusedTasksSql =
  (heartbeats: boolean): Statement =>
  (schema) =>
    firstNames(`
  select tasks.identifier as name from ${schema}._private_tasks as tasks
  where not exists (select from pg_catalog.unnest($1::int[]) as used (id) where used.id = tasks.id)
  ${heartbeats ? `and ${isOfNoWorker(schema, "tasks")}` : ""}`);

const unusedQueuesSql: Statement = (schema) =>
  firstNames(`
  select queues.queue_name as name from ${schema}._private_job_queues as queues
  where queues.locked_at is null
  and not exists (select from pg_catalog.unnest($1::int[]) as used (id) where used.id = queues.id)`);

/**
 * Returns the SQL condition that no worker has reported the task. If a worker's report is incomplete or too large, the
 * worker may have any task, so the condition is false.
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
