  select last::text, rows::text, coalesce(pg_catalog.array_length(ids, 1), 0) as matched,
    pg_catalog.array_to_string(ids[$3::int + 1 : $3::int + $4::int], ',') as ids
  from (
    select pg_catalog.max(id) as last, pg_catalog.count(*) as rows,
      pg_catalog.array_agg(id) filter (where is_match) as ids
    from (
      select jobs.id, ((true) and true) as is_match
      from "worker"._private_jobs as jobs
      where jobs.id > $1::bigint
      order by jobs.id asc
      limit $2::bigint
    ) as scanned
  ) as chunk;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  select light.*, pg_catalog.floor(extract(epoch from case light.condition
      when 'fetched' then light.locked_at
      when 'running' then light.locked_at
      when 'blocked' then greatest(light.run_at, nullif(light.queue_locked_at, 'infinity'))
      when 'ready' then greatest(light.run_at, light.created_at)
      when 'failed' then light.failed_at
      when 'retrying' then light.failed_at
      else light.updated_at
    end) * 1000000::numeric) as since_us
  from (
    select jobs.id, tasks.identifier as task_identifier, queues.queue_name, jobs.priority,
      pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric) as run_at_us, jobs.attempts, jobs.max_attempts,
      pg_catalog.left(jobs.last_error, 300) as error_line,
      pg_catalog.floor(extract(epoch from jobs.created_at) * 1000000::numeric) as created_at_us,
      pg_catalog.floor(extract(epoch from jobs.updated_at) * 1000000::numeric) as updated_at_us,
      jobs.key, pg_catalog.floor(extract(epoch from jobs.locked_at) * 1000000::numeric) as locked_at_us,
      pg_catalog.left(jobs.locked_by, 300) as locked_by, jobs.revision, jobs.is_available,
      case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as state,
      case
    when jobs.locked_at is not null then case when (select case pg_catalog.jsonb_typeof(holder.list)
        when 'array' then holder.list operator(pg_catalog.?) jobs.id::text
        when 'object' then not (holder.list -> 'running'::text) operator(pg_catalog.?) jobs.id::text
          and exists (select from "worker"._private_workers as workers where workers.id = jobs.locked_by
            and workers.last_heartbeat_at >= jobs.locked_at + interval '1 second')
        else false end
      from (select (
        select pg_catalog.jsonb_object_agg(listing.id, listing.list) from (
          select workers.id, case when pg_catalog.jsonb_typeof(workers.metadata -> 'fetched_job_ids'::text) = 'array' then workers.metadata -> 'fetched_job_ids'::text
            when case when pg_catalog.jsonb_typeof(workers.metadata -> 'running_job_ids'::text) = 'array'
    then pg_catalog.jsonb_array_length(workers.metadata -> 'running_job_ids'::text) <= 1000
      and coalesce(workers.metadata -> 'running_jobs'::text = pg_catalog.to_jsonb(pg_catalog.jsonb_array_length(workers.metadata -> 'running_job_ids'::text)), true)
    else false end then pg_catalog.jsonb_build_object('running', workers.metadata -> 'running_job_ids'::text) end as list
          from (
    select summed.id, summed.last_heartbeat_at, summed.started_at, summed.report_bytes,
      summed.report_bytes > 16777216::bigint as is_cut,
      case when summed.report_bytes <= 16777216::bigint and pg_catalog.jsonb_typeof(summed.metadata) = 'object'
        then summed.metadata || '{}'::jsonb end as metadata
    from (
      select latest.*,
        pg_catalog.sum(latest.bytes) over (order by latest.bytes, latest.id rows unbounded preceding)::bigint as report_bytes
      from (
        select workers.id, workers.last_heartbeat_at, workers.started_at, workers.metadata,
          coalesce(pg_catalog.pg_column_size(workers.metadata)::bigint * case pg_catalog.pg_column_compression(workers.metadata)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end, 0) as bytes
        from "worker"._private_workers as workers
        where pg_catalog.octet_length(workers.id) <= 4096::int and true
        order by workers.last_heartbeat_at desc limit 10000
      ) as latest
    ) as summed
  ) as workers
        ) as listing
        where listing.list <> '[]'::jsonb and pg_catalog.pg_column_size(listing.list) <= 32768::int) -> pg_catalog.left(jobs.locked_by, 1024) as list offset 0) as holder) then 'fetched' else 'running' end
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at <= pg_catalog.now() and queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like 'managed:%', false) then 'blocked'
    when jobs.attempts > 0 then 'retrying'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as condition,
      jobs.locked_at, jobs.run_at, jobs.created_at, jobs.updated_at, greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= pg_catalog.now() + pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' and not (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end) as failed_at,
      queues.locked_at as queue_locked_at,
      pg_catalog.pg_column_size(jobs.payload) as payload_bytes,
      (pg_catalog.pg_column_size(jobs.payload)::bigint * case pg_catalog.pg_column_compression(jobs.payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end)::float8 as worst_bytes
    from "worker"._private_jobs as jobs
    
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join lateral (
    select queue_name, locked_by, locked_at from "worker"._private_job_queues
    where id = jobs.job_queue_id offset 0
  ) as queues on true
    where jobs.id = any($1::bigint[])
    offset 0
  ) as light
