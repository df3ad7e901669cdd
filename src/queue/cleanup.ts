// Deletes what nobody will need again: failed jobs, and names without jobs.
import { InputError } from "../base/errors.ts";
import { didYouMean } from "../base/validate.ts";
import type { Database, Statement } from "../database/database.ts";
import { contendedQuery } from "./contended-query.ts";

/** Graphile Worker's three cleanup tasks, in the order in which they run. */
export const cleanupTasks = [
  "delete-permanently-failed-jobs",
  "gc-task-identifiers",
  "gc-job-queues",
] as const;
export type CleanupTask = (typeof cleanupTasks)[number];

/** What was deleted; null = that task was not asked for. */
export interface CleanupResult {
  readonly deletedJobs: number | null;
  readonly deletedTaskIdentifiers: number | null;
  readonly deletedQueues: number | null;
}

const CHUNK = 10_000;

/**
 * Runs the named tasks, all three by default, in the order of `cleanupTasks` whatever the order
 * given; an empty list runs none. Failed jobs are deleted in steps of 10,000, each a statement of
 * its own. Collect task identifiers ("gc-task-identifiers") when no worker runs and nobody adds
 * jobs of a task that has none: workers know their tasks by ids, and a job that is added at the
 * very moment its task is collected keeps the old id and never runs.
 * Throws InputError for an unknown task.
 */
export async function cleanup(
  db: Database,
  tasks: readonly CleanupTask[] = cleanupTasks,
): Promise<CleanupResult> {
  const asked = new Set(checkedTasks(tasks));
  const run = async (task: CleanupTask, work: () => Promise<number>) =>
    asked.has(task) ? await work() : null;
  return {
    deletedJobs: await run("delete-permanently-failed-jobs", () => deleteFailedJobs(db)),
    deletedTaskIdentifiers: await run("gc-task-identifiers", () => count(db, deleteTasksSql)),
    deletedQueues: await run("gc-job-queues", () => count(db, deleteQueuesSql)),
  };
}

function checkedTasks(tasks: readonly CleanupTask[]): readonly CleanupTask[] {
  if (!Array.isArray(tasks)) throw new InputError([{ path: "tasks", message: "must be a list" }]);
  const unknown = tasks.flatMap((task, index) => {
    if (cleanupTasks.includes(task)) return [];
    const hint = didYouMean(String(task), cleanupTasks);
    const message = `unknown cleanup task${hint}; there are ${cleanupTasks.join(", ")}`;
    return [{ path: `tasks[${index}]`, message }];
  });
  if (unknown.length > 0) throw new InputError(unknown);
  return tasks;
}

async function count(db: Database, statement: Statement): Promise<number> {
  const [row] = await contendedQuery<{ deleted: string }>(db, statement, []);
  return Number(row?.deleted ?? 0);
}

/** Chunk after chunk with ascending ids: it ends even while other jobs keep failing. */
async function deleteFailedJobs(db: Database): Promise<number> {
  let deleted = 0;
  let last: string | null = "0";
  while (last !== null) {
    const values: unknown[] = [last, CHUNK];
    const [row] = await contendedQuery<{ deleted: string; last: string | null }>(
      db,
      deleteFailedSql,
      values,
    );
    deleted += Number(row?.deleted ?? 0);
    last = row?.last ?? null;
  }
  return deleted;
}

// A job that somebody acts on at this moment is skipped, not waited for.
const deleteFailedSql: Statement = (schema) => `
  with failed as materialized (
    select id
    from ${schema}._private_jobs
    where id > $1::bigint and locked_at is null and attempts >= max_attempts and not is_available
    order by id
    limit $2::int
    for update skip locked
  ), deleted as (
    delete from ${schema}._private_jobs as jobs
    using failed
    where jobs.id = failed.id
    returning jobs.id
  )
  select count(*) as deleted, max(id) as last from deleted`;

const deleteTasksSql: Statement = (schema) => `
  with deleted as (
    delete from ${schema}._private_tasks as tasks
    where not exists (
      select from ${schema}._private_jobs as jobs where jobs.task_id = tasks.id
    )
    returning 1
  )
  select count(*) as deleted from deleted`;

const deleteQueuesSql: Statement = (schema) => `
  with deleted as (
    delete from ${schema}._private_job_queues as queues
    where queues.locked_at is null
    and not exists (
      select from ${schema}._private_jobs as jobs where jobs.job_queue_id = queues.id
    )
    returning 1
  )
  select count(*) as deleted from deleted`;
