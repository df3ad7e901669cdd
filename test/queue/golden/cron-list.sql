  select known.identifier, known.known_since_ms, known.last_execution_ms, clock.now_ms
  from (select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000::numeric) as now_ms) as clock
  left join (
    select identifier, pg_catalog.floor(extract(epoch from known_since) * 1000::numeric) as known_since_ms,
      pg_catalog.floor(extract(epoch from last_execution) * 1000::numeric) as last_execution_ms
    from "worker"._private_known_crontabs
    where pg_catalog.octet_length(identifier) <= 4096::int
    order by identifier limit 10000
  ) as known on true;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  select case when pg_catalog.sum(pg_catalog.length(reports.part)) over (order by pg_catalog.length(reports.part), reports.ids) <= 4194304
      then reports.part end as cron, reports.is_cut, reports.workers, reports.ids
  from (
    select reports.part::text as part, reports.is_cut, pg_catalog.count(*)::int as workers,
      pg_catalog.to_json((pg_catalog.array_agg(reports.id order by reports.id))[1:5])::text as ids
    from (
      select workers.id, workers.metadata -> 'cron'::text as part,
        workers.is_cut or workers.metadata -> 'tasks_cut'::text is not distinct from 'true'::jsonb as is_cut
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
      where not (coalesce(workers.metadata ? 'recovered_at'::text, false) or ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end)
    ) as reports
    group by reports.part, reports.is_cut
  ) as reports;

select identifier, pg_catalog.left(task, 512) as task, pg_catalog.left(pattern, 2000) as pattern,
  pg_catalog.left(time_zone, 512) as time_zone, jitter_ms, overlap, revision,
  case when pg_catalog.jsonb_typeof(spec->'fillMs'::text) = 'number'::text
      and pg_catalog.length(spec->>'fillMs'::text) <= 25
    then least((spec->>'fillMs'::text)::float8, 31622400000::float8) else 0::float8 end as fill_ms, spec->>'jobKey'::text as key, (spec->>'lastMs'::text) as last_ms,
  pg_catalog.floor(extract(epoch from paused_at) * 1000::numeric) as paused_ms, pg_catalog.floor(extract(epoch from next_at) * 1000::numeric) as next_ms
from (
  select identifier, task, pattern, time_zone, jitter_ms, overlap, revision, paused_at, next_at,
    case when list_bytes <= 4194304::bigint then case when case when pg_catalog.pg_column_size(spec) > 8192::int then false
      when pg_catalog.pg_column_compression(spec) is not null then pg_catalog.octet_length(spec::text) <= 8192::int
      else true end then spec else '{}'::jsonb end else '{}'::jsonb end as spec
  from (
    select stored.*, pg_catalog.sum(case when pg_catalog.pg_column_compression(spec) is not null and pg_catalog.pg_column_size(spec) <= 8192::int then pg_catalog.pg_column_size(spec)::bigint * case pg_catalog.pg_column_compression(spec)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end else 0::bigint end) over (order by identifier rows unbounded preceding)::bigint as list_bytes
    from (
      select * from "worker"._private_schedules where pg_catalog.octet_length(identifier) <= 4096::int order by identifier limit 10000
    ) as stored
  ) as summed
  offset 0
) as schedules
order by identifier;

  with recursive priorities (priority, place) as (
    (select priority, 1 from "worker"._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < 32
  ), tick as (
    select given.identifier, tasks.id as task_id, nullif(given.key, ''::text) as key,
      timestamptz 'epoch' + given.run_at_ms * interval '1 millisecond' as run_at
    from unnest($1::text[], $2::text[], $3::float8[], $4::text[])
      as given (identifier, task, run_at_ms, key)
    join "worker"._private_tasks as tasks on tasks.identifier = given.task
  )
  select tick.identifier, pg_catalog.min(found.id) as id
  from tick, lateral (
    select jobs.id from "worker"._private_jobs as jobs
    where tick.key is not null and jobs.key = tick.key and jobs.task_id = tick.task_id
      and jobs.is_available
    union all
    select same.id from priorities, lateral (
      select jobs.id, jobs.task_id from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = priorities.priority
        and jobs.run_at = tick.run_at
      limit 200
    ) as same
    where tick.key is null and same.task_id = tick.task_id
  ) as found
  group by tick.identifier
