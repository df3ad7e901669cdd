// The conditions under which a worker may take a job. Every worker on the schema must use the same ones,
// stock ones included (they do not see pauses of tasks): available, due, of one of its tasks, without a forbidden flag, and, if in a named
// queue, one that is not locked. Each part is a condition on a row of _private_jobs with the given alias.

/** Not locked, and attempts are left: the predicate of the indexes from which jobs are taken. */
export const isAvailable = (job: string): string => `${job}.is_available`;

export const isDue = (job: string, now = "pg_catalog.now()"): string => `${job}.run_at <= ${now}`;

/** The job itself is ready, whatever the worker and its queue. */
export const isReady = (job: string): string => `${isAvailable(job)} and ${isDue(job)}`;

/** Where known tasks are found, and whether the schema has pauses (the extension "controls"). */
export interface KnownTasks {
  /** The parameter with the worker's tasks, text[]. */
  readonly identifiers: string;
  /** Leave out tasks that are paused. */
  readonly pauses: boolean;
}

/** Evaluated once per statement, so a pause that has been committed before it is exact. */
export const isOfKnownTask = (
  s: string,
  job: string,
  { identifiers, pauses }: KnownTasks,
): string =>
  `${job}.task_id = any(array(
    select t.id from ${s}._private_tasks t where t.identifier = any(${identifiers}::text[])${
      pauses ? ` and not ${isPausedTask(s, "t.identifier")}` : ""
    }))`;

/** A condition: the task with this identifier, or everything, is paused. A pause ends at its time by itself. */
export const isPausedTask = (s: string, identifier: string): string => `exists (
      select from ${s}._private_pauses p
      where (p.scope = 'all' or p.scope = 'task' and p.name = ${identifier})
      and (p.resume_at is null or p.resume_at > pg_catalog.now()))`;

/** `flags`: the parameter with the forbidden flags, text[]. Reads the heap, because no index has the flags. */
export const hasNoFlagOf = (job: string, flags: string): string =>
  `(${job}.flags is null or not ${job}.flags ?| ${flags}::text[])`;

/** The named queue is not locked by `locked_by`. Row locks are not visible. */
export const isInFreeQueue = (s: string, job: string): string =>
  `exists (select from ${s}._private_job_queues q
    where q.id = ${job}.job_queue_id and q.is_available)`;
