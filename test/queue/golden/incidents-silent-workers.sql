  select id, pg_catalog.floor(extract(epoch from last_heartbeat_at) * 1000000::numeric) as heard_us,
    case when pg_catalog.jsonb_typeof(metadata -> 'running_jobs'::text) = 'number'
      then least((metadata ->> 'running_jobs'::text)::numeric, 1e9)::float8 end as running
  from "worker"._private_workers as workers
  where (coalesce(workers.metadata ? 'recovered_at'::text, false) or ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end) and not coalesce(workers.metadata ? 'recovered_at'::text, false)
  order by last_heartbeat_at limit 100
