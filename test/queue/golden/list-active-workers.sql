select coalesce(has_table_privilege(to_regclass($1::text), 'select'), false) as present;

  select
    id,
    floor(extract(epoch from last_heartbeat_at) * 1000000) as last_heartbeat_at_us,
    floor(extract(epoch from started_at) * 1000000) as started_at_us,
    metadata,
    coalesce(last_heartbeat_at < now() - $1::float8 * interval '1 second', (coalesce(workers.metadata ? 'recovered_at', false) or (extract(epoch from now() - workers.last_heartbeat_at)::float8 * 1000) > case when jsonb_typeof(workers.metadata -> 'threshold_ms') = 'number'
      and length(workers.metadata ->> 'threshold_ms') <= 25
      then greatest((workers.metadata ->> 'threshold_ms')::float8, null::float8)
      else coalesce(null::float8, 300000) end)) as is_stale
  from "worker"._private_workers as workers
  order by id
  limit 1000
