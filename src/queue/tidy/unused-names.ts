// Defines which names are not in use, for the cleanup and for the counts of the page.
import { reportedWorkers } from "../sql/unpacked.ts";

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
