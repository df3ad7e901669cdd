// The conditions under which a worker may take a job. Every worker on the schema must use the same ones,
// stock ones included: available, due, of one of its tasks, without a forbidden flag, and, if in a named
// queue, one that is not locked. Each part is a condition on a row of _private_jobs with the given alias.

/** Not locked, and attempts are left: the predicate of the indexes from which jobs are taken. */
export const isAvailable = (job: string): string => `${job}.is_available`;

export const isDue = (job: string, now = "pg_catalog.now()"): string => `${job}.run_at <= ${now}`;

/** The job itself is ready, whatever the worker and its queue. */
export const isReady = (job: string): string => `${isAvailable(job)} and ${isDue(job)}`;

/** `identifiers`: the parameter with the worker's tasks, text[]. */
export const isOfKnownTask = (s: string, job: string, identifiers: string): string =>
  `${job}.task_id = any(array(
    select t.id from ${s}._private_tasks t where t.identifier = any(${identifiers}::text[])))`;

/** `flags`: the parameter with the forbidden flags, text[]. Reads the heap, because no index has the flags. */
export const hasNoFlagOf = (job: string, flags: string): string =>
  `(${job}.flags is null or not ${job}.flags ?| ${flags}::text[])`;

/** The named queue is not locked by `locked_by`. Row locks are not visible. */
export const isInFreeQueue = (s: string, job: string): string =>
  `exists (select from ${s}._private_job_queues q
    where q.id = ${job}.job_queue_id and q.is_available)`;
