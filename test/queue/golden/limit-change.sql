select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('worker:limit:' || $1::text, 0));

select l.id, pg_catalog.left(l.name, 512) as name, l.scope, pg_catalog.left(l.match, 512) as match, l.concurrency, l.rate, l.period_ms::text, l.burst, l.source, pg_catalog.left(l.set_by, 512) as set_by,
  pg_catalog.floor(extract(epoch from l.set_at) * 1000000::numeric)::text as set_us, pg_catalog.abs(l.revision) as revision,
  pg_catalog.floor(extract(epoch from b.until) * 1000000::numeric)::text as until_us,
  ((extract(epoch from b.until)::float8 - extract(epoch from pg_catalog.now())::float8) * 1000::float8) as left_ms, pg_catalog.left(b.reason, 2000) as reason
from "worker"._private_limits l
left join lateral (
  select until, reason from "worker"._private_back_offs
  where scope = 'limit' and name = l.name and until > pg_catalog.now()
  order by until desc limit 1) b on true
order by l.id limit 1000;

with old as materialized (
  select * from "worker"._private_limits where name = $1::text
), stored as (
  insert into "worker"._private_limits as l
    (name, scope, match, concurrency, rate, period_ms, burst, source, set_by)
  select $1::text, $2::text, $3::text, $4::int, $5::int, $6::bigint, $7::int, 'user', $8::text
  where exists (select from old) or (select pg_catalog.count(*) from "worker"._private_limits) < 1000
  on conflict (name) do update set
    match = excluded.match, concurrency = excluded.concurrency, rate = excluded.rate,
    period_ms = excluded.period_ms, burst = excluded.burst, source = excluded.source,
    set_by = excluded.set_by, set_at = pg_catalog.now(),
    revision = (pg_catalog.abs(l.revision) + 1) * case when l.match <> excluded.match or l.concurrency is null
      or l.revision < 2 and l.set_at > pg_catalog.now() - interval '2.5 seconds' then -1 else 1 end
  where l.scope = excluded.scope
    and (l.match, l.concurrency, l.rate, l.period_ms, l.burst)
      is distinct from (excluded.match, excluded.concurrency, excluded.rate, excluded.period_ms, excluded.burst)
  returning pg_catalog.pg_notify('worker:control', 'all'), pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1))
), behind as materialized (
  select rates.limit_id, rates.key from "worker"._private_rates as rates
  where rates.limit_id in (select id from old where scope = $2::text) and rates.tat > pg_catalog.now()
    + $7::int::float8 * $6::bigint::float8 / $5::int::float8 * interval '1 millisecond'
  order by rates.limit_id, rates.key for update
), emptied as (
  update "worker"._private_rates as rates set tat = pg_catalog.now()
    + $7::int::float8 * $6::bigint::float8 / $5::int::float8 * interval '1 millisecond'
  from behind where rates.limit_id = behind.limit_id and rates.key = behind.key
)
select exists (select from stored) as is_changed,
  exists (select from old where scope <> $2::text) as is_other,
  not exists (select from old) and not exists (select from stored) as is_missed,
  (select pg_catalog.count(*) from "worker"._private_limits) >= 1000 as is_full;

select case when $1::text = 'task'
  then exists (select from "worker"._private_tasks where identifier like $2::text)
  else exists (select from "worker"._private_job_queues where queue_name like $2::text) end as is_known;

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
  ) as locks
  group by locked_by
  limit 10000
