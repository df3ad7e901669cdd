  select
    worker_id,
    pg_catalog.count(*) filter (where is_job)::text as locked_jobs,
    pg_catalog.count(*) filter (where not is_job)::text as locked_queues
  from (
    select locked_by as worker_id, true as is_job
    from "worker"._private_jobs
    where locked_by is not null and locked_at is not null and not is_available
    union all
    select locked_by, false
    from "worker"._private_job_queues as queues
    where locked_by is not null and queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false)
  ) as locks
  group by worker_id
  order by worker_id
  limit 1000
