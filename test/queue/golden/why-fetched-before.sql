  select
    pg_catalog.pg_relation_size(pg_catalog.to_regclass($1::text)) / pg_catalog.current_setting('block_size')::int as pages,
    coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($2::text), 'select'), false) as has_workers,
    pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric) as now_us;

  select pg_catalog.count(*) as before from "worker"._private_jobs as jobs
  where jobs.job_queue_id = $1::int and jobs.locked_by = $2::text
  and ($3::bigint[] is null or jobs.id = any($3::bigint[]))
  and (jobs.priority, jobs.run_at, jobs.id) < ($4::smallint, $5::timestamptz, $6::bigint)
  and jobs.locked_at is not null and not jobs.is_available and case
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
      else false end
