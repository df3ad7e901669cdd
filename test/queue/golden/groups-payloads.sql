  select jobs.id, jobs.task_id,
      jobs.job_queue_id as queue_id, jobs.priority, jobs.payload,
      null::text as last_error,
      null::text as marks,
      coalesce((jobs.task_id = any($5::int[])), false) as is_match
  from "worker"._private_jobs as jobs
  where jobs.id <= $4::bigint and pg_catalog.pg_column_size(jobs.payload) <= $1::int
      and $3::int[] is null and (jobs.task_id = any($5::int[]))
  order by jobs.id desc limit $2::int;

  select jobs.id, jobs.task_id,
      jobs.job_queue_id as queue_id, jobs.priority, jobs.payload,
      null::text as last_error,
      null::text as marks,
      coalesce((jobs.task_id = any($5::int[])), false) as is_match
  from "worker"._private_jobs as jobs
  where jobs.id <= $4::bigint and pg_catalog.pg_column_size(jobs.payload) <= $1::int
      and jobs.task_id = any($3::int[]) and ((jobs.task_id = any($5::int[]))) is not true
  order by jobs.id desc limit $2::int;

  select jobs.id, jobs.task_id,
      jobs.job_queue_id as queue_id, jobs.priority, jobs.payload,
      pg_catalog.left(jobs.last_error, 65536) as last_error,
      null::text as marks,
      coalesce((jobs.task_id = any($5::int[])), false) as is_match
  from "worker"._private_jobs as jobs
  where jobs.id <= $4::bigint and pg_catalog.pg_column_size(jobs.payload) <= $1::int
      and jobs.task_id = any($3::int[])
  order by jobs.id desc limit $2::int
