  select jobs.id::text
  from "worker"._private_jobs as jobs
  where jobs.id = any($1::bigint[]) and jobs.locked_at is null
  and coalesce($2::int, jobs.attempts) >= coalesce($3::int, jobs.max_attempts)
