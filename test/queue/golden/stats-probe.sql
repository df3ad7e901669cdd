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
  ), heads as (
    select
      (select pg_catalog.count(*) from (
      select  from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = known.priority and jobs.run_at <= pg_catalog.now()
      order by jobs.run_at limit $1::int + 1) as due) as due,
      (select pg_catalog.count(*) from (
      select  from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = known.priority and jobs.run_at > pg_catalog.now()
      order by jobs.run_at limit $1::int + 1) as ahead) as ahead,
      (select pg_catalog.count(*) from (
      select  from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = known.priority and jobs.run_at > pg_catalog.to_timestamp($2::float8 / 1000::float8) and jobs.run_at <= pg_catalog.now()
      order by jobs.run_at limit $1::int + 1) as due) as became_due,
      (
      select run_at from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = known.priority and jobs.run_at <= pg_catalog.now()
      order by jobs.run_at limit 1) as oldest,
      due.oldest_free, due.blocked,
      (select pg_catalog.min(run_at) filter (where attempts = 0)
        from (
      select run_at, attempts from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = known.priority and jobs.run_at > pg_catalog.now()
      order by jobs.run_at limit $1::int + 1) as ahead) as next
    from known, lateral (
      select pg_catalog.min(run_at) filter (where attempts = 0 and is_blocked is not true) as oldest_free,
        pg_catalog.count(*) filter (where is_blocked) as blocked
      from (
      select run_at, job_queue_id = any($3::int[]) as is_blocked, attempts from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = known.priority and jobs.run_at <= pg_catalog.now()
      order by jobs.run_at limit $1::int + 1) as first
    ) as due
  )
  select pg_catalog.count(*) as priorities, pg_catalog.sum(blocked) as blocked,
    pg_catalog.sum(due) as due, pg_catalog.max(due) as most_due, pg_catalog.sum(ahead) as ahead, pg_catalog.max(ahead) as most_ahead,
    pg_catalog.sum(became_due) as became_due, pg_catalog.max(became_due) as most_became_due,
    pg_catalog.floor(extract(epoch from pg_catalog.min(oldest)) * 1000::numeric) as oldest_ms, pg_catalog.floor(extract(epoch from pg_catalog.min(next)) * 1000::numeric) as next_ms,
    pg_catalog.floor(extract(epoch from pg_catalog.min(oldest_free)) * 1000::numeric) as oldest_free_ms
  from heads
