  select pg_catalog.count(*) as count, pg_catalog.count(*) filter (where is_fetched) as fetched,
    pg_catalog.floor(extract(epoch from pg_catalog.min(locked_at) filter (where not is_fetched)) * 1000::numeric) as at
  from (
    select locked_at, case
      when (jobs.locked_by, jobs.id::text) in (
        select workers.id, fetched.id from "worker"._private_workers as workers
        cross join lateral pg_catalog.jsonb_array_elements_text(case when pg_catalog.jsonb_typeof(workers.metadata -> 'fetched_job_ids'::text) = 'array'
          then workers.metadata -> 'fetched_job_ids'::text else '[]'::jsonb end) as fetched (id)) then true
      when jobs.locked_by in (
        select workers.id from "worker"._private_workers as workers
        where not coalesce(pg_catalog.jsonb_typeof(workers.metadata -> 'fetched_job_ids'::text) = 'array', false) and case when pg_catalog.jsonb_typeof(workers.metadata -> 'running_job_ids'::text) = 'array'
    then pg_catalog.jsonb_array_length(workers.metadata -> 'running_job_ids'::text) <= 1000
      and coalesce(workers.metadata -> 'running_jobs'::text = pg_catalog.to_jsonb(pg_catalog.jsonb_array_length(workers.metadata -> 'running_job_ids'::text)), true)
    else false end)
      then coalesce((select case when pg_catalog.jsonb_typeof(workers.metadata -> 'running_job_ids'::text) = 'array'
    then pg_catalog.jsonb_array_length(workers.metadata -> 'running_job_ids'::text) <= 1000
      and coalesce(workers.metadata -> 'running_jobs'::text = pg_catalog.to_jsonb(pg_catalog.jsonb_array_length(workers.metadata -> 'running_job_ids'::text)), true)
    else false end
    and not workers.metadata -> 'running_job_ids'::text operator(pg_catalog.?) jobs.id::text
          and workers.last_heartbeat_at >= jobs.locked_at + interval '1 second'
        from "worker"._private_workers as workers where workers.id = jobs.locked_by), false)
      else false end as is_fetched
    from "worker"._private_jobs as jobs where jobs.locked_at is not null
    order by locked_at limit $1::int + 1
  ) as locked;

  select pg_catalog.count(*) as count, pg_catalog.floor(extract(epoch from pg_catalog.max(updated_at)) * 1000::numeric) as at from (
    select updated_at from "worker"._private_jobs as jobs where jobs.locked_at is null and jobs.attempts >= jobs.max_attempts
    order by updated_at desc limit $1::int + 1
  ) as failed
