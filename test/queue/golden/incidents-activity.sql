  select pg_catalog.floor(extract(epoch from greatest(
      (select pg_catalog.max(locked_at) from "worker"._private_job_queues),
      pg_catalog.max(locked_at),
      pg_catalog.max(updated_at) filter (where last_error is not null and attempts < max_attempts)
    )) * 1000::numeric) as last_ms
  from "worker"._private_jobs
  where locked_at is not null or attempts > 0
