// Which jobs a worker may take. Every worker on the schema must agree on this, stock ones included:
// available, due, of a task that it knows, without a flag that it was forbidden, and in a named
// queue that nobody has locked, if in any. Each part is one condition on a row of _private_jobs,
// whose alias is given.

/** Not locked, and attempts are left: the predicate of the indexes from which jobs are taken. */
export const isAvailable = (job: string): string => `${job}.is_available`;

export const isDue = (job: string, now = "pg_catalog.now()"): string => `${job}.run_at <= ${now}`;

/** What can be said of a job by itself: in words, that it is ready. */
export const isReady = (job: string): string => `${isAvailable(job)} and ${isDue(job)}`;

/** `identifiers`: the parameter with the tasks of the worker, text[]. */
export const isOfKnownTask = (s: string, job: string, identifiers: string): string =>
  `${job}.task_id = any(array(
    select t.id from ${s}._private_tasks t where t.identifier = any(${identifiers}::text[])))`;

/** `flags`: the parameter with the forbidden ones, text[]. Reads the heap: no index has the flags. */
export const hasNoFlagOf = (job: string, flags: string): string =>
  `(${job}.flags is null or not ${job}.flags ?| ${flags}::text[])`;

/** Nobody has locked the named queue by `locked_by`; row locks do not show. */
export const isInFreeQueue = (s: string, job: string): string =>
  `exists (select from ${s}._private_job_queues q
    where q.id = ${job}.job_queue_id and q.is_available)`;
