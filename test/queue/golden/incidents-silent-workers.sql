  select id, pg_catalog.floor(extract(epoch from last_heartbeat_at) * 1000000) as heard_us,
    case when pg_catalog.jsonb_typeof(metadata -> 'running_jobs') = 'number'
      then least((metadata ->> 'running_jobs')::numeric, 1e9)::float8 end as running
  from "worker"._private_workers as workers
  where (coalesce(workers.metadata ? 'recovered_at', false) or (extract(epoch from pg_catalog.now() - workers.last_heartbeat_at)::float8 * 1000) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms') = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms') <= 25
      then greatest((workers.metadata ->> 'threshold_ms')::float8, null::float8)
      else coalesce(null::float8, 300000) end)
  order by last_heartbeat_at limit 100
