  with matching as (
    select jobs.locked_at is not null as is_locked, jobs.task_id, jobs.job_queue_id,
      pg_catalog.pg_column_size(jobs.payload) as payload_bytes,
      coalesce(pg_catalog.pg_column_size(jobs.last_error), 0) as error_bytes
    from "worker"._private_jobs as jobs
    where jobs.id > $1::bigint and jobs.id <= $2::bigint and (jobs.task_id = any($3::int[]))
  )
  select grouping(is_locked, task_id, job_queue_id) as of,
    is_locked, task_id, job_queue_id, pg_catalog.count(*)::float8 as jobs,
    pg_catalog.sum(payload_bytes)::float8 as payload_bytes, pg_catalog.sum(error_bytes)::float8 as error_bytes
  from matching
  group by grouping sets ((is_locked), (task_id), (job_queue_id))
