  select id::text from "worker"._private_jobs where id = any($1::bigint[])
