  select j.id::text from "worker"._private_jobs j
  where (j.id = any($1::bigint[]) or j.key = $2::text) and j.locked_at is not null;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  with images as materialized (
    select jobs.id, jobs.updated_at, jobs.task_id, jobs.attempts, jobs.run_at, jobs.priority, jobs.max_attempts
    from "worker"._private_jobs as jobs
    where jobs.id = any($1::bigint[])
    order by jobs.id
    for update
  ), acted as (
    update "worker"._private_jobs as jobs
    set
      run_at = pg_catalog.now(),
      priority = coalesce($2::smallint, jobs.priority),
      attempts = coalesce($3::smallint, jobs.attempts),
      max_attempts = coalesce($4::smallint, jobs.max_attempts),
      updated_at = pg_catalog.now()
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
      $5::text, $6::json, $7::text, $8::text,
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
      updated_at, task_id, attempts, run_at, priority, max_attempts
    )
    select (select id from operation), targets.id, targets.outcome::"char", acted.updated_at, acted.attempts,
      images.updated_at, images.task_id, images.attempts, images.run_at, images.priority, images.max_attempts
    from targets as targets
    left join acted on acted.id = targets.id
    left join images as images on images.id = acted.id
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
