  select
    array(select id from "worker"._private_tasks
      where pg_catalog.strpos(pg_catalog.lower(identifier collate "C"), ($1::text[])[1]) > 0)::text as tasks,
    array(select id from "worker"._private_job_queues
      where pg_catalog.strpos(pg_catalog.lower(queue_name collate "C"), ($1::text[])[1]) > 0)::text as queues;

  select last::text, rows::text, coalesce(pg_catalog.array_length(ids, 1), 0) as matched,
    pg_catalog.array_to_string(ids[$3::int + 1 : $3::int + $4::int], ',') as ids
  from (
    select pg_catalog.max(id) as last, pg_catalog.count(*) as rows,
      pg_catalog.array_agg(id) filter (where is_match) as ids
    from (
      select jobs.id, ((true) and ((jobs.id = $5::bigint or jobs.key = $6::text) or (jobs.task_id = any($8::int[])
    or jobs.job_queue_id = any($9::int[])
    or pg_catalog.strpos(pg_catalog.lower(jobs.key collate "C"), ($7::text[])[1]) > 0
    or pg_catalog.strpos(pg_catalog.lower(jobs.locked_by collate "C"), ($7::text[])[1]) > 0
    or pg_catalog.strpos(pg_catalog.lower(jobs.last_error collate "C"), ($7::text[])[1]) > 0
    or pg_catalog.strpos(pg_catalog.lower(jobs.payload::text collate "C"), ($7::text[])[1]) > 0))) as is_match
      from "worker"._private_jobs as jobs
      where jobs.id > $1::bigint
      order by jobs.id asc
      limit $2::bigint
    ) as scanned
  ) as chunk;

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
