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
  select ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from pg_catalog.min(head.run_at))::float8) * 1000::float8) as oldest_ms
  from priorities,
  lateral (
    select jobs.run_at from "worker"._private_jobs as jobs
    where jobs.is_available and jobs.priority = priorities.priority and jobs.run_at <= pg_catalog.now()
    order by jobs.run_at limit 1
  ) as head
