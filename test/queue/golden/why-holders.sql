  select id, (not (coalesce(workers.metadata ? 'recovered_at', false) or (extract(epoch from pg_catalog.now() - workers.last_heartbeat_at)::float8 * 1000) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms') = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms') <= 25
      then greatest((workers.metadata ->> 'threshold_ms')::float8, null::float8)
      else coalesce(null::float8, 300000) end)) as is_alive, pg_catalog.floor(extract(epoch from last_heartbeat_at) * 1000000) as heard_us,
    pg_catalog.left(metadata ->> 'host', 256) as host, metadata ->> 'running_job_ids' as running_job_ids
  from "worker"._private_workers as workers
  where id = any($1::text[])
