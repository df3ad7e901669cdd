  insert into "worker"._private_rehearsals (id, expires_at, rehearsal)
  values ($1::text, now() + interval '15 minutes', $2::json)
