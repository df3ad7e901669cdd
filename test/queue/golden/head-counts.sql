  with recursive priorities (priority, place) as (
    (select priority, 1 from "worker"._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < 32
  ), head as materialized (
    select head.* from priorities, lateral (
      select jobs.job_queue_id as id, jobs.run_at, pg_catalog.row_number() over (order by jobs.run_at) as place
      from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = priorities.priority and jobs.run_at <= pg_catalog.now()
      order by jobs.run_at limit 5000
    ) as head
  ), counted as (
    select id, pg_catalog.count(*) as count, pg_catalog.floor(extract(epoch from pg_catalog.min(run_at)) * 1000::numeric) as oldest_ms
    from head where id is not null group by id
  )
  select pg_catalog.json_agg(id)::text as ids, pg_catalog.json_agg(count)::text as counts,
    pg_catalog.json_agg(oldest_ms)::text as oldest,
    (select coalesce(pg_catalog.max(place), 0) < 5000 from head)
      and (select pg_catalog.count(priority) < 32 from priorities) as is_whole,
    pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000::numeric) as now_ms
  from counted;

  with recursive priorities (priority, place) as (
    (select priority, 1 from "worker"._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < 32
  ), head as materialized (
    select head.* from priorities, lateral (
      select jobs.task_id as id, jobs.run_at, pg_catalog.row_number() over (order by jobs.run_at) as place
      from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = priorities.priority and jobs.run_at <= pg_catalog.now()
      order by jobs.run_at limit 5000
    ) as head
  ), counted as (
    select id, pg_catalog.count(*) as count, pg_catalog.floor(extract(epoch from pg_catalog.min(run_at)) * 1000::numeric) as oldest_ms
    from head where id is not null group by id
  )
  select pg_catalog.json_agg(id)::text as ids, pg_catalog.json_agg(count)::text as counts,
    pg_catalog.json_agg(oldest_ms)::text as oldest,
    (select coalesce(pg_catalog.max(place), 0) < 5000 from head)
      and (select pg_catalog.count(priority) < 32 from priorities) as is_whole,
    pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000::numeric) as now_ms
  from counted
