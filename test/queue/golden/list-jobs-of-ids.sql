select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

  with bound as (select $2::bigint as last, 0::bigint as rows), found as materialized (
    select jobs.id, jobs.attempts as key
    from "worker"._private_jobs as jobs
    where jobs.id <= $1::bigint and ($2::bigint is null or jobs.id >= $2::bigint)
    and ($5::bigint is null or (jobs.attempts, jobs.id) < ($4::int, $5::bigint))
    and ($7::bigint is null or (jobs.attempts, jobs.id) >= ($6::int, $7::bigint))
    and (true) and (jobs.id = any($8::bigint[]))
    order by jobs.attempts desc, jobs.id desc
    limit $3::bigint
  )
  select bound.last, bound.rows,
    pg_catalog.array_to_string(array(select found.id from found order by found.key desc, found.id desc), ',') as ids,
    pg_catalog.array_to_string(array(select found.key::text from found order by found.key desc, found.id desc), ',') as keys
  from bound;

  select 
  jobs.id::text, jobs.task_id, tasks.identifier as task_identifier,
  jobs.job_queue_id, queues.queue_name, (case when pg_catalog.pg_column_size(jobs.payload) <= 16384
    and not (pg_catalog.pg_column_compression(jobs.payload) is not null)
    and coalesce(pg_catalog.octet_length(jobs.last_error), 0) <= 16384 then jobs.payload end)::text as payload, jobs.priority,
  pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric)::text as run_at_us,
  jobs.attempts, jobs.max_attempts, case when pg_catalog.pg_column_size(jobs.payload) <= 16384
    and not (pg_catalog.pg_column_compression(jobs.payload) is not null)
    and coalesce(pg_catalog.octet_length(jobs.last_error), 0) <= 16384 then jobs.last_error end as last_error,
  pg_catalog.floor(extract(epoch from jobs.created_at) * 1000000::numeric)::text as created_at_us,
  pg_catalog.floor(extract(epoch from jobs.updated_at) * 1000000::numeric)::text as updated_at_us,
  jobs.key, pg_catalog.floor(extract(epoch from jobs.locked_at) * 1000000::numeric)::text as locked_at_us, pg_catalog.left(jobs.locked_by, 1000) as locked_by,
  jobs.revision, (case when pg_catalog.pg_column_size(jobs.flags)::bigint * case pg_catalog.pg_column_compression(jobs.flags)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end <= 65536 then jobs.flags end)::text as flags, jobs.is_available,
  case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as state,
    pg_catalog.pg_column_size(jobs.payload) as payload_bytes,
    (pg_catalog.pg_column_size(jobs.payload)::bigint * case pg_catalog.pg_column_compression(jobs.payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end)::float8 as worst_bytes,
    coalesce(pg_catalog.octet_length(jobs.last_error), 0) as error_bytes,
    (pg_catalog.pg_column_size(jobs.payload) <= 16384
    and not (pg_catalog.pg_column_compression(jobs.payload) is not null)
    and coalesce(pg_catalog.octet_length(jobs.last_error), 0) <= 16384) is not true as is_large
  from "worker"._private_jobs as jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join lateral (
    select queue_name, locked_by, locked_at from "worker"._private_job_queues
    where id = jobs.job_queue_id offset 0
  ) as queues on true
  where jobs.id = any($1::bigint[])
