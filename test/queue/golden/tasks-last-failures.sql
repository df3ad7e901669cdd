  with newest as materialized (
    select jobs.id, jobs.task_id, jobs.updated_at
    from "worker"._private_jobs as jobs
    where jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available
    order by jobs.updated_at desc, jobs.id desc
    limit 2000
  ), last as (
    select distinct on (newest.task_id) newest.id
    from newest
    where newest.task_id = any ($1::int[])
    order by newest.task_id, newest.updated_at desc, newest.id desc
  )
  select jobs.task_id, pg_catalog.left(jobs.last_error, 300) as start
  from last join "worker"._private_jobs as jobs on jobs.id = last.id
  where jobs.last_error is not null
