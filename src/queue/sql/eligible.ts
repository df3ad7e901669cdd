// SQL conditions under which a worker may fetch a job. `job`: the alias of a row of _private_jobs. The row of a managed
// queue (a named queue with a limit, slots.ts) is always locked, so isInFreeQueue() is false for the queue's jobs.

/** The job is not locked and has attempts left. The indexes that fetches read have this predicate. */
export const isAvailable = (job: string): string => `${job}.is_available`;

export const isDue = (job: string, now = "pg_catalog.now()"): string => `${job}.run_at <= ${now}`;

/** The job is available and due. The job's named queue and task are not checked. */
export const isReady = (job: string): string => `${isAvailable(job)} and ${isDue(job)}`;

export interface KnownTasks {
  /** The SQL parameter with the identifiers of the worker's tasks, text[]. */
  readonly identifiers: string;
  /** Whether to leave out paused tasks: true if the schema has the extension "controls". */
  readonly pauses: boolean;
}

/** The job's task is a task of the worker and not paused. */
export const isOfKnownTask = (
  s: string,
  job: string,
  { identifiers, pauses }: KnownTasks,
): string =>
  `${job}.task_id = any(array(
    select t.id from ${s}._private_tasks t where t.identifier = any(${identifiers}::text[])${
      pauses ? ` and not ${isPausedTask(s, "t.identifier")}` : ""
    }))`;

/** The task with this identifier is paused, or all jobs are. */
export const isPausedTask = (s: string, identifier: string): string => `exists (
      select from ${s}._private_pauses p
      where (p.scope = 'all' or p.scope = 'task' and p.name = ${identifier})
      and (p.resume_at is null or p.resume_at > pg_catalog.now()))`;

/** The job has none of the flags in `flags`, a text[] parameter. */
export const hasNoFlagOf = (job: string, flags: string): string =>
  `(${job}.flags is null or not ${job}.flags ?| ${flags}::text[])`;

/**
 * The job has a named queue that is not locked by `locked_by`. `limited`: the parameter with the name patterns of
 * queues with limits, text[]. These queues are excluded, even if they are not managed yet.
 */
export const isInFreeQueue = (s: string, job: string, limited: string | null = null): string =>
  `exists (select from ${s}._private_job_queues q
    where q.id = ${job}.job_queue_id and q.is_available${
      limited === null ? "" : ` and not q.queue_name like any (${limited}::text[])`
    })`;
