  select jobs.id
  from "worker"._private_jobs as jobs
  where jobs.id > $1::bigint and jobs.id <= $2::bigint
  and (jobs.task_id = any($4::int[]))
  order by jobs.id
  limit $3::int;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  select jobs.id, tasks.identifier as task_identifier, queues.queue_name,
    case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as state, pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric) as run_at_us,
    case
    when jobs.locked_at is not null then 'running'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at <= pg_catalog.now() and queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like 'managed:%', false) then 'blocked'
    when jobs.attempts > 0 then 'retrying'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as condition,
    jobs.priority, jobs.attempts, jobs.max_attempts, jobs.key,
    pg_catalog.left(jobs.last_error, 300) as error
  from "worker"._private_jobs as jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  where jobs.id = any($1::bigint[])
  order by jobs.id
