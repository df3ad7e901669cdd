  select id::text, locked_at is not null as is_locked
  from "worker"._private_jobs where id = any($1::bigint[])
