  select id, (not (coalesce(workers.metadata ? 'recovered_at'::text, false) or ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end)) as is_alive, pg_catalog.floor(extract(epoch from last_heartbeat_at) * 1000000::numeric) as heard_us,
    pg_catalog.left(metadata ->> 'host'::text, 256) as host, metadata ->> 'running_job_ids'::text as running_job_ids,
    metadata ->> 'fetched_job_ids'::text as fetched_job_ids, case when pg_catalog.jsonb_typeof(workers.metadata -> 'running_job_ids'::text) = 'array'
    then pg_catalog.jsonb_array_length(workers.metadata -> 'running_job_ids'::text) <= 1000
      and coalesce(workers.metadata -> 'running_jobs'::text = pg_catalog.to_jsonb(pg_catalog.jsonb_array_length(workers.metadata -> 'running_job_ids'::text)), true)
    else false end as lists_all, pg_catalog.left(metadata ->> 'unsettled'::text, 65536) as unsettled
  from "worker"._private_workers as workers
  where id = any($1::text[])
