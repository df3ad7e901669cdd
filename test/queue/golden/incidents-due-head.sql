  with recursive priorities (priority, place) as (
    (select priority, 1 from "worker"._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < 32
  ), share as (
    select (50000 / greatest(pg_catalog.count(*), 1))::int as entries
    from priorities where priority is not null
  ), head as (
    select priorities.priority, due.task_id, due.run_at,
      case when due.job_queue_id = any($1::int[]) then due.job_queue_id end as queue_id,
      coalesce(due.job_queue_id = any($2::int[]), false) as is_blocked,
      case when due.job_queue_id = any($1::int[])
        then pg_catalog.width_bucket(due.run_at, $3::timestamptz[]) end as part
    from priorities, lateral (
      select jobs.task_id, jobs.job_queue_id, jobs.run_at from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = priorities.priority and jobs.run_at <= pg_catalog.now()
      order by jobs.run_at limit (select entries from share)
    ) as due
    where priorities.priority is not null
  )
  select grouping(queue_id, task_id, priority) as question, queue_id, part, task_id, is_blocked,
    pg_catalog.count(*) as count, pg_catalog.date_part('epoch', pg_catalog.min(run_at)) as oldest_s,
    (select entries from share) as entries,
    (select pg_catalog.count(priority) < 32 from priorities) as has_all_priorities
  from head
  group by grouping sets ((), (queue_id, part), (task_id, is_blocked), (priority))
  limit 20000
