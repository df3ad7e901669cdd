// Names that nobody needs: what a cleanup deletes and the page counts, of one opinion.

/**
 * No worker names the task. A worker's row is there as long as the worker is, or until its jobs are
 * recovered. One that has too many tasks to name them all may know any.
 */
export const isOfNoWorker = (schema: string, task: string): string => `not exists (
      select from ${schema}._private_workers as workers
      where workers.metadata -> 'task_identifiers'::text ? ${task}.identifier
      or workers.metadata @> '{"tasks_cut": true}'
    )`;
