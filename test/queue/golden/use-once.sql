  insert into "worker"._private_rehearsals (id, expires_at, rehearsal)
  values ($1::text, pg_catalog.to_timestamp($2::float8), 'null')
  on conflict (id) do nothing
  returning id
