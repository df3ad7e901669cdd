  with images as materialized (
    select jobs.id
    from "worker"._private_jobs as jobs
    where jobs.id = any($1::bigint[])
    order by jobs.id
    for update
  ), acted as (
    delete from "worker"._private_jobs as jobs
    where jobs.id = any(array(select images.id from images)) and (jobs.locked_at is null or jobs.locked_at < pg_catalog.now() - interval '4 hours')
    returning jobs.*
  ), targets as materialized (
    select requested.id,
      case when acted.id is not null then 'd' when jobs.id is not null then 'l' else 'g' end as outcome
    from pg_catalog.unnest($1::bigint[]) as requested (id)
    left join acted on acted.id = requested.id
    left join "worker"._private_jobs as jobs on jobs.id = requested.id
  ), operation as (
    insert into "worker"._private_operations (
      query, now_us, action, changes, performed_by, source, state, finished_at, max_id, before,
      matched, expected, after_id, done, skipped_locked, skipped_gone, kept
    )
    select
      -- If there are more ids than one term of a query may contain, only the receipt has them.
      case when pg_catalog.count(*) <= 100 then 'id:' || pg_catalog.string_agg(id::text, ',' order by id) else '' end,
      pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::bigint::text,
      $2::text, $3::json, $4::text, $5::text,
      'done', pg_catalog.now(), pg_catalog.max(id), pg_catalog.now(), pg_catalog.json_build_object(
        'value', pg_catalog.count(*), 'precision', 'exact', 'basis', 'scan',
        'as_of', pg_catalog.to_char(pg_catalog.now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
      ), pg_catalog.json_build_object(
        'value', pg_catalog.count(*), 'precision', 'exact', 'basis', 'scan',
        'as_of', pg_catalog.to_char(pg_catalog.now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
      ), pg_catalog.max(id),
      pg_catalog.count(*) filter (where outcome = 'd'), pg_catalog.count(*) filter (where outcome = 'l'),
      pg_catalog.count(*) filter (where outcome = 'g'), pg_catalog.count(*)
    from targets
    having pg_catalog.bool_or(outcome = 'd')
    returning id
  ), kept as (
    insert into "worker"._private_operation_rows (
      operation_id, job_id, outcome, left_at, left_attempts,
      run_at, created_at, updated_at, task_id, job_queue_id, revision, attempts, max_attempts, priority, last_error, payload, key, flags, task_identifier, queue_name
    )
    select (select id from operation), targets.id, targets.outcome::"char", acted.updated_at, acted.attempts,
      acted.run_at, acted.created_at, acted.updated_at, acted.task_id, acted.job_queue_id, acted.revision, acted.attempts, acted.max_attempts, acted.priority, acted.last_error, acted.payload, acted.key, acted.flags, tasks.identifier, queues.queue_name
    from targets as targets
    left join acted on acted.id = targets.id
    left join "worker"._private_tasks as tasks on tasks.id = acted.task_id
    left join "worker"._private_job_queues as queues on queues.id = acted.job_queue_id
    where exists (select from operation)
  )
  select 
  jobs.id::text, jobs.task_id, tasks.identifier as task_identifier,
  jobs.job_queue_id, queues.queue_name, (jobs.payload)::text as payload, jobs.priority,
  pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric)::text as run_at_us,
  jobs.attempts, jobs.max_attempts, jobs.last_error as last_error,
  pg_catalog.floor(extract(epoch from jobs.created_at) * 1000000::numeric)::text as created_at_us,
  pg_catalog.floor(extract(epoch from jobs.updated_at) * 1000000::numeric)::text as updated_at_us,
  jobs.key, pg_catalog.floor(extract(epoch from jobs.locked_at) * 1000000::numeric)::text as locked_at_us, jobs.locked_by as locked_by,
  jobs.revision, (jobs.flags)::text as flags, jobs.is_available,
  case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as state, (select id from operation) as operation_id
  from acted as jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  order by jobs.id
