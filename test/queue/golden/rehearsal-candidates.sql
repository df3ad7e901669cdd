  select jobs.id, pg_catalog.left(jobs.last_error, 16384) as last_error,
    coalesce(pg_catalog.octet_length(jobs.last_error), 0) as error_size,
    jobs.locked_at is not null as is_locked, jobs.task_id, jobs.job_queue_id,
    pg_catalog.pg_column_size(jobs.payload) as size,
    
      case when pg_catalog.pg_column_size(jobs.payload) <= 65536::int and not (pg_catalog.pg_column_compression(jobs.payload) is not null)
        then jobs.payload end as payload,
      case when pg_catalog.pg_column_compression(jobs.payload) is not null and pg_catalog.pg_column_size(jobs.payload) <= 65536::int
        then (pg_catalog.pg_column_size(jobs.payload)::bigint * case pg_catalog.pg_column_compression(jobs.payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end)::float8 end as packed_bytes,
      jobs.ctid::text as place_in_table,
    null::text as marks
  from "worker"._private_jobs as jobs
  where jobs.id > $1::bigint and jobs.id <= $2::bigint
  and (jobs.task_id = any($4::int[]))
  order by jobs.id
  limit $3::int;

  select job.id, pg_catalog.octet_length(job.payload) as bytes,
    case when pg_catalog.octet_length(job.payload) <= $3::int then job.payload end as payload
  from (
    select jobs.id, jobs.payload::text as payload
    from "worker"._private_jobs as jobs
    where jobs.ctid = any($1::tid[]) and jobs.id = any($2::bigint[])
    offset 0
  ) as job
