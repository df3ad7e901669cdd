  insert into "worker"._private_rehearsals (id, expires_at, rehearsal)
  values ($1::text, pg_catalog.now() + interval '15 minutes', $2::json)
