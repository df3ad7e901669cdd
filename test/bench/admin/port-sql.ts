// The statements with which the admin of Graphile Worker's Rust port reads the data of its pages: plain counts and
// lists. The times of these statements are compared with those of our admin's statements, which are in src/insight.
export const portSql = (schema: string) => {
  const jobs = `${schema}._private_jobs`;
  const select = `
    select jobs.id, tasks.identifier, job_queues.queue_name, jobs.payload, jobs.priority,
      jobs.run_at, jobs.attempts, jobs.max_attempts, jobs.last_error, jobs.created_at,
      jobs.updated_at, jobs.key, jobs.locked_at, jobs.locked_by, jobs.revision, jobs.flags,
      jobs.is_available
    from ${jobs} as jobs
    inner join ${schema}._private_tasks as tasks on tasks.id = jobs.task_id
    left join ${schema}._private_job_queues as job_queues on job_queues.id = jobs.job_queue_id
    where true`;
  const page = "order by jobs.id asc limit 100";
  return {
    counts: `
      select count(*)::bigint as total,
        count(*) filter (where locked_at is null and attempts < max_attempts
          and run_at <= now())::bigint as ready,
        count(*) filter (where locked_at is null and attempts < max_attempts
          and run_at > now())::bigint as scheduled,
        count(*) filter (where locked_at is not null)::bigint as locked,
        count(*) filter (where locked_at is null and attempts >= max_attempts)::bigint as failed
      from ${jobs}`,
    queues: `
      select job_queues.id, job_queues.queue_name, job_queues.locked_at, job_queues.locked_by,
        count(jobs.*)::bigint as job_count,
        count(jobs.*) filter (where jobs.locked_at is null
          and jobs.attempts < jobs.max_attempts and jobs.run_at <= now())::bigint as ready_count
      from ${schema}._private_job_queues as job_queues
      left join ${jobs} as jobs on jobs.job_queue_id = job_queues.id
      group by job_queues.id, job_queues.queue_name, job_queues.locked_at, job_queues.locked_by
      order by job_queues.queue_name asc`,
    workers: `
      select worker_id, sum(locked_jobs)::bigint, sum(locked_queues)::bigint from (
        select locked_by as worker_id, count(*)::bigint as locked_jobs, 0::bigint as locked_queues
        from ${jobs} where locked_by is not null group by locked_by
        union all
        select locked_by, 0::bigint, count(*)::bigint
        from ${schema}._private_job_queues where locked_by is not null group by locked_by
      ) as locks group by worker_id order by worker_id asc`,
    page: `${select} ${page}`,
    pageAt: (offset: number) => `${select} ${page} offset ${offset}`,
    ofQueue: (name: string) => `${select} and job_queues.queue_name = '${name}' ${page}`,
    failed: `${select} and jobs.locked_at is null and jobs.attempts >= jobs.max_attempts
      order by jobs.updated_at desc limit 100`,
    text: (text: string) =>
      `${select} and (jobs.payload::text ilike '%${text}%' or tasks.identifier ilike '%${text}%'
        or jobs.last_error ilike '%${text}%' or jobs.key ilike '%${text}%') ${page}`,
  };
};
