select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  select jobs.id::text, jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available as is_failed
  from "worker"._private_jobs as jobs where jobs.id = any($1::bigint[]) order by jobs.id;

  with jobs as (
    delete from "worker"._private_jobs as jobs
    where jobs.id = any(array(
    select free.id from "worker"._private_jobs as free
    where free.id = any($1::bigint[])
    for update skip locked
  )) and (jobs.locked_at is null or jobs.locked_at < pg_catalog.now() - interval '4 hours')
    returning jobs.*
  ), locked_row as materialized (
    select locked.id from "worker"._private_jobs as locked
    where locked.id in (select requested.id from "worker"._private_jobs as requested where requested.id = any($1::bigint[]) and requested.id not in (select jobs.id from jobs)) and locked.locked_at is not null
    order by locked.id
    for update skip locked
  ), last_attempt as (
    update "worker"._private_jobs as locked set max_attempts = greatest(1::smallint, locked.attempts)
    where locked.id in (select locked_row.id from locked_row) and locked.attempts < locked.max_attempts
  ), requested as (
    insert into "worker"._private_cancellations as requests (job_id, requested_at, reason, requested_by)
    select running.id, pg_catalog.now(), $2::text, $3::text from (select requested.id from "worker"._private_jobs as requested where requested.id = any($1::bigint[]) and requested.id not in (select jobs.id from jobs)) as running (id) order by running.id
    on conflict (job_id) do update set requested_at = excluded.requested_at,
      reason = coalesce(excluded.reason, requests.reason),
      requested_by = coalesce(excluded.requested_by, requests.requested_by)
    returning pg_catalog.pg_notify('worker:control', 'cancel '::text || coalesce(pg_catalog.left((select locked_by from "worker"._private_jobs as locked where locked.id = requests.job_id), 1000), ''::text))
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
  end as state
  from jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  order by jobs.id
