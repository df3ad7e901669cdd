  select jobs.id
  from "worker"._private_jobs as jobs
  where jobs.id > $1::bigint
  order by jobs.id asc
  limit 1
  offset $2::bigint;

  select pg_catalog.count(*) as count from "worker"._private_jobs as jobs
  where jobs.id > $1::bigint and jobs.id <= $2::bigint and (jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available)
