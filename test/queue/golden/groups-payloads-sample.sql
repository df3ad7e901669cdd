  select job.*
  from pg_catalog.unnest($4::bigint[]) as sampled (page)
  cross join lateral (
      select jobs.id, jobs.task_id,
      jobs.job_queue_id as queue_id, jobs.priority, 
      case when pg_catalog.pg_column_size(jobs.payload) <= $1::int and not (pg_catalog.pg_column_compression(jobs.payload) is not null)
        then jobs.payload end as payload,
      case when pg_catalog.pg_column_compression(jobs.payload) is not null and pg_catalog.pg_column_size(jobs.payload) <= $1::int
        then (pg_catalog.pg_column_size(jobs.payload)::bigint * case pg_catalog.pg_column_compression(jobs.payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end)::float8 end as packed_bytes,
      jobs.ctid::text as place_in_table,
      null::text as last_error,
      null::text as marks,
      coalesce((jobs.task_id = any($5::int[])), false) as is_match from "worker"._private_jobs as jobs
      where jobs.ctid >= ('(' || sampled.page::text || ',0)')::tid
        and jobs.ctid < ('(' || (sampled.page + 1)::text || ',0)')::tid
        and pg_catalog.pg_column_size(jobs.payload) <= $1::int and not false
      and $3::int[] is null and (jobs.task_id = any($5::int[]))
      offset 0
  ) as job
  limit $2::int;

  select job.id, pg_catalog.octet_length(job.payload) as bytes,
    case when pg_catalog.octet_length(job.payload) <= $3::int then job.payload end as payload
  from (
    select jobs.id, jobs.payload::text as payload
    from "worker"._private_jobs as jobs
    where jobs.ctid = any($1::tid[]) and jobs.id = any($2::bigint[])
    offset 0
  ) as job;

  select coalesce(pg_catalog.min(id), 0) as first, coalesce(pg_catalog.max(id), 0) as last from "worker"._private_jobs;

  select jobs.id, jobs.task_id,
      jobs.job_queue_id as queue_id, jobs.priority, 
      case when pg_catalog.pg_column_size(jobs.payload) <= $1::int and not (pg_catalog.pg_column_compression(jobs.payload) is not null)
        then jobs.payload end as payload,
      case when pg_catalog.pg_column_compression(jobs.payload) is not null and pg_catalog.pg_column_size(jobs.payload) <= $1::int
        then (pg_catalog.pg_column_size(jobs.payload)::bigint * case pg_catalog.pg_column_compression(jobs.payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end)::float8 end as packed_bytes,
      jobs.ctid::text as place_in_table,
      null::text as last_error,
      null::text as marks,
      coalesce((jobs.task_id = any($6::int[])), false) as is_match
  from "worker"._private_jobs as jobs
  where jobs.id > $4::bigint and jobs.id <= $5::bigint and pg_catalog.pg_column_size(jobs.payload) <= $1::int and not false
      and $3::int[] is null and (jobs.task_id = any($6::int[]))
  order by jobs.id desc limit $2::int
