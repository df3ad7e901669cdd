// Names that nobody needs: what a cleanup deletes and the page counts, of one opinion.
import { reportedWorkers } from "../sql/unpacked.ts";

/**
 * No worker names the task. A worker's row is there as long as the worker is, or until its jobs are
 * recovered. One that has too many tasks to name them all may know any, and so
 * may one whose report is too long to be read.
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
