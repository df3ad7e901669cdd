  select jobs.id, jobs.ctid::text as ctid, jobs.last_error,
    jobs.locked_at is not null as is_locked, jobs.task_id, jobs.job_queue_id,
    pg_catalog.pg_column_size(jobs.payload) as size,
    case when pg_catalog.pg_column_size(jobs.payload) <= 262144 then jobs.payload end as payload,
    null::text as marks
  from "worker"._private_jobs as jobs
  where jobs.id > $1::bigint and jobs.id <= $2::bigint
  and (jobs.task_id = any($4::int[]))
  order by jobs.id
  limit $3::int
