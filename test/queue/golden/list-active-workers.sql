select coalesce(has_table_privilege(to_regclass($1::text), 'select'), false) as present;

  select
    id,
    floor(extract(epoch from last_heartbeat_at) * 1000000) as last_heartbeat_at_us,
    floor(extract(epoch from started_at) * 1000000) as started_at_us,
    metadata,
    last_heartbeat_at < now() - $1::float8 * interval '1 second' as is_stale
  from "worker"._private_workers
  order by id
  limit 1000
