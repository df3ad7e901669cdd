  select
    count(*) as total,
    count(*) filter (where jobs.is_available and jobs.run_at <= now()) as ready,
    count(*) filter (where jobs.is_available and jobs.run_at > now()) as scheduled,
    count(*) filter (where jobs.locked_at is not null and not jobs.is_available) as locked,
    count(*) filter (where jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available) as failed
  from "worker"._private_jobs as jobs
