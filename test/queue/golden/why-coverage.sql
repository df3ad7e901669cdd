  with fleet as materialized (
    select id, last_heartbeat_at, metadata -> 'task_identifiers'::text as tasks, (not (coalesce(workers.metadata ? 'recovered_at'::text, false) or ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end)) as is_alive,
      coalesce((pg_catalog.jsonb_typeof(metadata -> 'task_identifiers'::text) = 'array'
      and coalesce(metadata ->> 'tasks_cut'::text, 'false') in ('false', '0')), false) as lists_all, metadata -> 'running_job_ids'::text as running
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
    order by last_heartbeat_at desc
    limit 1001
  ), locks as (
    select pg_catalog.left(queues.locked_by, 1024) as locked_by from "worker"._private_job_queues as queues
    where queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false)
    union all select pg_catalog.left(jobs.locked_by, 1024) from "worker"._private_jobs as jobs
    where locked_at is not null and not is_available
  ), requested as materialized (
    select task, (select pg_catalog.count(*)::int from fleet where is_alive and tasks ? task) as workers
    from pg_catalog.unnest($1::text[]) as given (task)
  )
  select
    (select pg_catalog.count(*)::int from fleet) as known,
    (select pg_catalog.count(*)::int from fleet where is_alive) as alive,
    exists (select from fleet where is_alive and not lists_all)
      or exists (
        select from locks where locked_by is not null
        and not exists (select from fleet where fleet.id = locks.locked_by and fleet.lists_all)
      ) as is_open,
    (select coalesce(pg_catalog.json_agg(task), '[]')::text from requested where workers = 0) as unlisted,
    (select coalesce(pg_catalog.json_object_agg(task, workers), '{}')::text from requested where workers > 0) as listed,
    (select coalesce(pg_catalog.json_object_agg(task, id), '{}')::text from requested, lateral (
      select id from fleet where not is_alive and tasks ? task order by last_heartbeat_at desc limit 1
    ) as last where workers = 0) as formerly,
    (select id from fleet where is_alive and running ? $2::text limit 1) as runner;

  with fleet as materialized (
    select id, last_heartbeat_at, metadata -> 'task_identifiers'::text as tasks, (not (coalesce(workers.metadata ? 'recovered_at'::text, false) or ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end)) as is_alive,
      coalesce((pg_catalog.jsonb_typeof(metadata -> 'task_identifiers'::text) = 'array'
      and coalesce(metadata ->> 'tasks_cut'::text, 'false') in ('false', '0')), false) as lists_all, metadata -> 'running_job_ids'::text as running
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
    order by last_heartbeat_at desc
    limit 1001
  ), locks as (
    select pg_catalog.left(queues.locked_by, 1024) as locked_by from "worker"._private_job_queues as queues
    where queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false)
    union all select pg_catalog.unnest($3::text[])
  ), requested as materialized (
    select task, (select pg_catalog.count(*)::int from fleet where is_alive and tasks ? task) as workers
    from pg_catalog.unnest($1::text[]) as given (task)
  )
  select
    (select pg_catalog.count(*)::int from fleet) as known,
    (select pg_catalog.count(*)::int from fleet where is_alive) as alive,
    exists (select from fleet where is_alive and not lists_all)
      or exists (
        select from locks where locked_by is not null
        and not exists (select from fleet where fleet.id = locks.locked_by and fleet.lists_all)
      ) as is_open,
    (select coalesce(pg_catalog.json_agg(task), '[]')::text from requested where workers = 0) as unlisted,
    (select coalesce(pg_catalog.json_object_agg(task, workers), '{}')::text from requested where workers > 0) as listed,
    (select coalesce(pg_catalog.json_object_agg(task, id), '{}')::text from requested, lateral (
      select id from fleet where not is_alive and tasks ? task order by last_heartbeat_at desc limit 1
    ) as last where workers = 0) as formerly,
    (select id from fleet where is_alive and running ? $2::text limit 1) as runner
