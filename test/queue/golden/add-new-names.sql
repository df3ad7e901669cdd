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
  from "worker".add_job(
    identifier => $1::text,
    payload => $2::text::json,
    queue_name => $3::text,
    run_at => $4::text::timestamptz,
    max_attempts => $5::int,
    job_key => $6::text,
    priority => $7::int,
    flags => $8::text[],
    job_key_mode => $9::text
  ) as jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  where jobs.id is not null and not exists (
    select from pg_catalog.pg_proc as own
    where own.pronamespace = E'"worker"'::pg_catalog.regnamespace::oid
    and own.proname in ('add_job', 'add_jobs') and pg_catalog.strpos(pg_catalog.replace(own.prosrc, E'"worker".', ''), '".') > 0
  );

  select true as is_task, id, identifier as name
  from "worker"._private_tasks
  where id = any($1::int[])
  union all
  select false, id, queue_name
  from "worker"._private_job_queues
  where id = any($2::int[])
