  select
    pg_catalog.count(*)::int as total,
    pg_catalog.count(*) filter (where jobs.is_available and jobs.run_at <= pg_catalog.now())::int as ready,
    pg_catalog.count(*) filter (where jobs.is_available and jobs.run_at > pg_catalog.now())::int as scheduled,
    pg_catalog.count(*) filter (where jobs.locked_at is not null and not jobs.is_available)::int as locked,
    pg_catalog.count(*) filter (where jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available)::int as failed
  from "worker"._private_jobs as jobs
