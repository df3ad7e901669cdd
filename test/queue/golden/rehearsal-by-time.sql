  with recursive priorities (priority, place) as (
    (select priority, 1 from "worker"._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < 32
  )
  select found.id
  from priorities
  cross join lateral (
    select jobs.id
    from "worker"._private_jobs as jobs
    where jobs.is_available and jobs.priority = priorities.priority and (jobs.task_id = any($2::int[]))
    limit $1::int
  ) as found
  limit $1::int
