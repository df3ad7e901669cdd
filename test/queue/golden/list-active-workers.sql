select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as present;

  select
    id,
    pg_catalog.floor(extract(epoch from last_heartbeat_at) * 1000000::numeric)::text as last_heartbeat_at_us,
    pg_catalog.floor(extract(epoch from started_at) * 1000000::numeric)::text as started_at_us,
    metadata::text,
    coalesce(last_heartbeat_at < pg_catalog.now() - $1::float8 * interval '1 second', (coalesce(workers.metadata ? 'recovered_at'::text, false) or ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end)) as is_stale
  from "worker"._private_workers as workers
  order by id
  limit 1000
