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
  select buckets.bucket, pg_catalog.max(found.count)::int as most, pg_catalog.max(priorities.place)::int as priorities
  from unnest($1::int[], $2::timestamptz[], $3::timestamptz[])
      as buckets (bucket, from_at, to_at), priorities, lateral (
    select pg_catalog.count(*) as count from (
      select  from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = priorities.priority
        and jobs.run_at >= buckets.from_at
        and jobs.run_at <= buckets.to_at - interval '1 microsecond'
      limit 201
    ) as jobs
  ) as found
  where priorities.priority is not null
  group by 1;

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
  select buckets.bucket, found.condition, pg_catalog.count(*) as count
  from unnest($1::int[], $2::timestamptz[], $3::timestamptz[])
      as buckets (bucket, from_at, to_at), priorities, lateral (
      select case
    when jobs.locked_at is not null then 'running'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at <= pg_catalog.now() and jobs.job_queue_id = any($4::int[]) then 'blocked'
    when jobs.attempts > 0 then 'retrying'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as condition from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = priorities.priority
        and jobs.run_at >= buckets.from_at
        and jobs.run_at <= buckets.to_at - interval '1 microsecond'
      limit 201
  ) as found
  where priorities.priority is not null
  group by 1, 2
