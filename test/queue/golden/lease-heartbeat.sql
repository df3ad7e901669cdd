with before as (
  select id, extract(epoch from last_heartbeat_at)::float8 * 1000::float8 as renewed_ms
  from "worker"._private_workers where id = any($1::text[])
), heartbeat as (
  update "worker"._private_workers as workers
  set last_heartbeat_at = pg_catalog.now(),
    metadata = case
      when id = $2::text and not coalesce(workers.metadata ? 'recovered_at'::text, false)
        then $3::jsonb || pg_catalog.jsonb_build_object('steady_since_ms', case when (not $5::boolean and pg_catalog.jsonb_typeof(workers.metadata -> 'steady_since_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'steady_since_ms'::text) <= 25
        and last_heartbeat_at between pg_catalog.now() - $6::float8 * interval '1 millisecond' and pg_catalog.now()) then (workers.metadata ->> 'steady_since_ms'::text)::float8 else extract(epoch from pg_catalog.now())::float8 * 1000::float8 end)
      when (not $5::boolean and pg_catalog.jsonb_typeof(workers.metadata -> 'steady_since_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'steady_since_ms'::text) <= 25
        and last_heartbeat_at between pg_catalog.now() - $6::float8 * interval '1 millisecond' and pg_catalog.now()) then metadata
      else coalesce(metadata, '{}') || pg_catalog.jsonb_build_object('steady_since_ms', extract(epoch from pg_catalog.now())::float8 * 1000::float8) end
  where id = any($1::text[])
  returning id, coalesce(workers.metadata ? 'recovered_at'::text, false) as is_recovered, (workers.metadata ->> 'steady_since_ms'::text)::float8 as since_ms,
    workers.tableoid::int8 as table_oid
), uptime as (
  select coalesce(greatest(0, extract(epoch from pg_catalog.now())::float8 * 1000::float8 - pg_catalog.min(since_ms)), 0) as ms from heartbeat
)
select extract(epoch from pg_catalog.now())::float8 * 1000::float8 as now_ms,
  (select coalesce(pg_catalog.json_object_agg(id, pg_catalog.json_build_array(is_recovered, table_oid, renewed_ms)), '{}')::text
    from heartbeat join before using (id)) as leases,
  (select ms from uptime) as uptime_ms,
  case when $4::float8 is not null then (
    select coalesce(pg_catalog.json_agg(id), '[]')::text
    from (
  select workers.id from "worker"._private_workers as workers
  where workers.last_heartbeat_at < pg_catalog.now() - $4::float8 * interval '1 millisecond'
  and ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when workers.metadata ? 'recovered_at'::text
      then case when pg_catalog.jsonb_typeof(workers.metadata -> 'resilient_threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'resilient_threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'resilient_threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end
      else case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end end
    and (select ms from uptime)::float8 >= case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end
  order by workers.last_heartbeat_at limit 100) as stale
    where id <> all($1::text[])
  ) else '[]' end as stale
