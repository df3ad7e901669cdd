  insert into "worker"._private_rehearsals (id, expires_at, rehearsal)
  values ($1::text, greatest(pg_catalog.to_timestamp($2::float8), pg_catalog.now()) + interval '1 hour', 'null')
  on conflict (id) do nothing
  returning id
