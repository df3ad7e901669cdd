  select pg_catalog.count(*) as count from (
    select from "worker"._private_jobs as jobs where (jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available) limit $1::int
  ) as matching
