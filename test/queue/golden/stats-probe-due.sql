  with recursive priorities (priority, place) as (
    (select priority, 1 from "worker"._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < 32
  ), known as (
    select priority from priorities where priority is not null
  )
  select tallied, pg_catalog.count(*) as count
  from known, lateral (
      select case
    when jobs.locked_at is not null then 'running'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at <= pg_catalog.now() and jobs.job_queue_id = any($1::int[]) then 'blocked'
    when jobs.attempts > 0 then case when jobs.run_at <= pg_catalog.now() then 'retrying_due' else 'retrying_ahead' end
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as tallied from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = known.priority and jobs.run_at <= pg_catalog.now()
      order by jobs.run_at limit $2::int
    ) as counted
  group by tallied
