// The names that are not in use: the same definition for the cleanup and for the page's counts.
import { reportedWorkers } from "../sql/unpacked.ts";

/**
 * No worker has reported the task. A worker's row exists as long as the worker does, or until its jobs are
 * recovered. A worker with too many tasks for its report may have any task, and so may one whose report is
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
