  update "worker"._private_known_crontabs as known
  set last_execution = done.last_execution
  from unnest($1::text[], $2::timestamptz[]) as done (identifier, last_execution)
  where known.identifier = done.identifier
