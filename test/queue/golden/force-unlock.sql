  with jobs as (
    update "worker"._private_jobs
    set locked_by = null, locked_at = null
    where locked_by = any($1::text[]) and locked_at is not null and not is_available
    returning 1
  ), queues as (
    update "worker"._private_job_queues set locked_by = null, locked_at = null where locked_by = any($1::text[])
    returning 1
  )
  select (select count(*) from jobs) as jobs, (select count(*) from queues) as queues
