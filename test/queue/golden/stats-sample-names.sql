  select
    coalesce(pg_catalog.json_agg(sampled.page), '[]')::text as pages,
    coalesce(pg_catalog.json_agg(job.task_id), '[]')::text as tasks,
    coalesce(pg_catalog.json_agg(job.job_queue_id), '[]')::text as queues,
    coalesce(pg_catalog.json_agg(job.tallied), '[]')::text as tallied,
    coalesce(pg_catalog.json_agg(job.locked_by) filter (where job.locked_by is not null), '[]')::text as holders
  from pg_catalog.unnest($2::bigint[]) as sampled (page)
  cross join lateral (
      select jobs.task_id, jobs.job_queue_id, jobs.locked_by,
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
    when jobs.run_at <= pg_catalog.now() and jobs.job_queue_id = any($1::int[]) then 'blocked'
    when jobs.attempts > 0 then case when jobs.run_at <= pg_catalog.now() then 'retrying_due' else 'retrying_ahead' end
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as tallied from "worker"._private_jobs as jobs
      where jobs.ctid >= ('(' || sampled.page::text || ',0)')::tid
        and jobs.ctid < ('(' || (sampled.page + 1)::text || ',0)')::tid
        and true
      offset 0
  ) as job
