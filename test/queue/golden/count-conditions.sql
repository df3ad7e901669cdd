select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as present;

  select state, condition, pg_catalog.count(*)::text as count
  from (
    select case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as state,
      case
    when jobs.locked_at is not null then case when case
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
      else false end then 'fetched' else 'running' end
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at <= pg_catalog.now() and queues.locked_at is not null then 'blocked'
    when jobs.attempts > 0 then 'retrying'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as condition
    from "worker"._private_jobs as jobs
    left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  ) as jobs
  group by state, condition
