select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  select clock.now_us, workers.id, workers.is_found, workers.is_stale, workers.started_us,
    workers.heartbeat_us, workers.running, workers.done_per_min, workers.failed_per_min
  from (select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric) as now_us) as clock
  left join (
    select workers.id,
      $1::text = '' or pg_catalog.strpos(pg_catalog.lower(pg_catalog.concat_ws(' ', workers.id, workers.metadata ->> 'host'::text,
        workers.metadata ->> 'version'::text, workers.metadata ->> 'node'::text,
        workers.metadata ->> 'task_identifiers'::text)), pg_catalog.lower($1::text)) > 0 as is_found,
      (coalesce(workers.metadata ? 'recovered_at'::text, false) or ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end) as is_stale,
      pg_catalog.floor(extract(epoch from workers.started_at) * 1000000::numeric) as started_us,
      pg_catalog.floor(extract(epoch from workers.last_heartbeat_at) * 1000000::numeric) as heartbeat_us,
      case when pg_catalog.jsonb_typeof(workers.metadata -> 'running_jobs'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'running_jobs'::text) <= 25
      then greatest((workers.metadata ->> 'running_jobs'::text)::float8, 0::float8) end as running,
      case when pg_catalog.jsonb_typeof(workers.metadata -> 'done_per_min'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'done_per_min'::text) <= 25
      then greatest((workers.metadata ->> 'done_per_min'::text)::float8, 0::float8) end as done_per_min,
      case when pg_catalog.jsonb_typeof(workers.metadata -> 'failed_per_min'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'failed_per_min'::text) <= 25
      then greatest((workers.metadata ->> 'failed_per_min'::text)::float8, 0::float8) end as failed_per_min
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
  ) as workers on true;

  select pg_catalog.pg_relation_size(pg_catalog.to_regclass($1::text)) / pg_catalog.current_setting('block_size')::int
    <= 4096 as is_small;

  select locked_by as worker_id,
    pg_catalog.count(*) filter (where is_job)::int as jobs,
    pg_catalog.count(*) filter (where not is_job)::int as queues,
    pg_catalog.floor(extract(epoch from pg_catalog.min(locked_at)) * 1000000::numeric) as oldest_us
  from (
    select pg_catalog.left(queues.locked_by, 1024) as locked_by, locked_at, false as is_job
    from "worker"._private_job_queues as queues
    where locked_by is not null and queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false)
    union all
    select pg_catalog.left(jobs.locked_by, 1024), locked_at, true
    from "worker"._private_jobs as jobs
    where jobs.locked_by is not null and jobs.locked_at is not null and not jobs.is_available
  ) as locks
  group by locked_by
  limit 10000;

  select workers.id, case when workers.report_bytes <= 4194304::bigint then workers.metadata end as metadata,
    workers.report_bytes > 4194304::bigint as is_left_out
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
        where pg_catalog.octet_length(workers.id) <= 4096::int and workers.id = any($1::text[])
        order by workers.last_heartbeat_at desc limit 10000
      ) as latest
    ) as summed
  ) as workers;

  select locked.worker_id, locked.id, tasks.identifier as task, pg_catalog.floor(extract(epoch from locked.locked_at) * 1000000::numeric) as since_us
  from (
    select pg_catalog.left(jobs.locked_by, 1024) as worker_id, jobs.id, jobs.task_id, jobs.locked_at,
      pg_catalog.row_number() over (partition by pg_catalog.left(jobs.locked_by, 1024) order by jobs.locked_at, jobs.id) as place
    from "worker"._private_jobs as jobs
    where pg_catalog.left(jobs.locked_by, 1024) = any($1::text[]) and jobs.locked_at is not null and not jobs.is_available
  ) as locked
  left join "worker"._private_tasks as tasks on tasks.id = locked.task_id
  where locked.place <= $2::int
  order by locked.locked_at, locked.id
