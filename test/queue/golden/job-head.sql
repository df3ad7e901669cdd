  select 
  jobs.id::text, jobs.task_id, tasks.identifier as task_identifier,
  jobs.job_queue_id, queues.queue_name, (case when pg_catalog.pg_column_size(jobs.payload) <= 16384
      then case when pg_catalog.pg_column_size(jobs.payload)::bigint * case pg_catalog.pg_column_compression(jobs.payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end <= 393216 then jobs.payload end end)::text as payload, jobs.priority,
  pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric)::text as run_at_us,
  jobs.attempts, jobs.max_attempts, pg_catalog.left(jobs.last_error, 262144) as last_error,
  pg_catalog.floor(extract(epoch from jobs.created_at) * 1000000::numeric)::text as created_at_us,
  pg_catalog.floor(extract(epoch from jobs.updated_at) * 1000000::numeric)::text as updated_at_us,
  jobs.key, pg_catalog.floor(extract(epoch from jobs.locked_at) * 1000000::numeric)::text as locked_at_us, pg_catalog.left(jobs.locked_by, 1024) as locked_by,
  jobs.revision, (case when pg_catalog.pg_column_size(jobs.flags)::bigint * case pg_catalog.pg_column_compression(jobs.flags)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end <= 4194304 then jobs.flags end)::text as flags, jobs.is_available,
  case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as state,
    pg_catalog.pg_column_size(jobs.payload) as payload_bytes,
    pg_catalog.pg_column_compression(jobs.payload) is not null as is_packed,
    case when $2::int > 0 then pg_catalog.left(jobs.payload::text, $2::int) end as payload_start,
    coalesce(pg_catalog.octet_length(jobs.last_error) > 262144
      and pg_catalog.length(jobs.last_error) > 262144, false) as is_error_cut
  from "worker"._private_jobs as jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  where jobs.id = $1::bigint
