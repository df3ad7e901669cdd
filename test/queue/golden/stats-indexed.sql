  select pg_catalog.count(*) as count, pg_catalog.floor(extract(epoch from pg_catalog.min(locked_at)) * 1000::numeric) as at from (
    select locked_at from "worker"._private_jobs as jobs where jobs.locked_at is not null
    order by locked_at limit $1::int + 1
  ) as running;

  select pg_catalog.count(*) as count, pg_catalog.floor(extract(epoch from pg_catalog.max(updated_at)) * 1000::numeric) as at from (
    select updated_at from "worker"._private_jobs as jobs where jobs.locked_at is null and jobs.attempts >= jobs.max_attempts
    order by updated_at desc limit $1::int + 1
  ) as failed
