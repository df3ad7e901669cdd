  update "worker"._private_operations
  set lease_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $3::int)
  where id = $1::bigint and owner = $2::text
  and state = any('{running,canary,undoing}')
  returning id
