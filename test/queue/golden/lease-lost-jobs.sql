select id::text as id from "worker"._private_jobs
where id = any($2::bigint[]) and locked_by = $1::text
