  with recursive priorities (priority, place) as (
    (select priority, 1 from "worker"._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < 32
  ), walked as (
    select due.* from priorities, lateral (
      select priority, run_at, id, job_queue_id from "worker"._private_jobs as jobs
      where is_available and jobs.priority = priorities.priority and run_at <= pg_catalog.now()
      order by run_at limit 5000
    ) as due
    where priorities.priority is not null
    limit 5000
  )
  select pg_catalog.count(*) < 5000
      and (select pg_catalog.count(priority) < 32 from priorities) as is_whole,
    pg_catalog.bool_or(id = $3::bigint) as is_reached,
    pg_catalog.count(*) filter (where (priority, run_at, id) < ($1::smallint, $2::timestamptz, $3::bigint) and job_queue_id = $4::int) as ahead,
    pg_catalog.count(*) filter (where job_queue_id = $4::int) as waiting
  from walked;

  with recursive priorities (priority, place) as (
    (select priority, 1 from "worker"._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < 32
  ), walked as (
    select due.* from priorities, lateral (
      select priority, run_at, id, job_queue_id from "worker"._private_jobs as jobs
      where is_available and jobs.priority = priorities.priority and run_at <= pg_catalog.now()
      order by run_at limit 5000
    ) as due
    where priorities.priority is not null
    limit 5000
  )
  select pg_catalog.count(*) < 5000
      and (select pg_catalog.count(priority) < 32 from priorities) as is_whole,
    pg_catalog.bool_or(id = $3::bigint) as is_reached,
    pg_catalog.count(*) filter (where (priority, run_at, id) < ($1::smallint, $2::timestamptz, $3::bigint) and (job_queue_id is null or job_queue_id not in (
      select id from "worker"._private_job_queues as queues where queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like 'managed:%', false)))) as ahead,
    pg_catalog.count(*) filter (where (job_queue_id is null or job_queue_id not in (
      select id from "worker"._private_job_queues as queues where queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like 'managed:%', false)))) as waiting
  from walked
