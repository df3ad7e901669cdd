  select pg_catalog.floor(extract(epoch from greatest(
      (select pg_catalog.max(case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then queues.locked_at end) from "worker"._private_job_queues as queues),
      pg_catalog.max(locked_at),
      pg_catalog.max(updated_at) filter (where last_error is not null and attempts < max_attempts)
    )) * 1000::numeric) as last_ms
  from "worker"._private_jobs
  where locked_at is not null or attempts > 0
