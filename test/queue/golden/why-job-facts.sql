  select jobs.id, tasks.identifier as task, jobs.priority, jobs.attempts, jobs.max_attempts,
    case
    when jobs.locked_at is not null then 'running'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at <= pg_catalog.now() and jobs.job_queue_id = any((case when queues.locked_at is not null then array[queues.id] end)::int[]) then 'blocked'
    when jobs.attempts > 0 then 'retrying'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as condition,
    pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric) as run_at_us, jobs.run_at <= pg_catalog.now() as is_due,
    jobs.run_at = 'infinity' as is_never, pg_catalog.left(jobs.last_error, 300) as error_start,
    pg_catalog.floor(extract(epoch from jobs.created_at) * 1000000::numeric) as created_us, pg_catalog.floor(extract(epoch from greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= pg_catalog.now() + pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second'
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end)) * 1000000::numeric) as failed_us,
    pg_catalog.floor(extract(epoch from jobs.locked_at) * 1000000::numeric) as locked_us, jobs.locked_by,
    queues.id as queue_id, queues.queue_name,
    jobs.job_queue_id is not null and queues.id is null as is_queue_lost, pg_catalog.floor(extract(epoch from queues.locked_at) * 1000000::numeric) as queue_locked_us,
    queues.locked_by as queue_locked_by, pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric) as now_us
  from "worker"._private_jobs as jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  where jobs.id = $1::bigint
