  select
    (select id from "worker"._private_tasks where identifier = $1::text) as task_id,
    (select id from "worker"._private_job_queues where queue_name = $2::text) as queue_id;

  with page as materialized (
    select jobs.id
    from "worker"._private_jobs as jobs
    where 
  jobs.id > $4::bigint
  and ($2::int is null or jobs.task_id = $2::int)
  and ($3::int is null or jobs.job_queue_id = $3::int)
  and ($1::text <> 'ready' or (jobs.is_available and jobs.run_at <= now()))
  and ($1::text <> 'scheduled' or (jobs.is_available and jobs.run_at > now()))
  and ($1::text <> 'locked' or (jobs.locked_at is not null and not jobs.is_available))
  and ($1::text <> 'failed' or (jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available))
    order by jobs.id
    limit $5::int
    offset $6::bigint
  ), weighed as (
    select page.id,
      octet_length(jobs.payload::text) + coalesce(octet_length(jobs.last_error), 0) as bytes
    from page
    join "worker"._private_jobs as jobs on jobs.id = page.id
  ), shown as (
    select id, sum(bytes) over (order by id) - bytes as bytes_before from weighed
  )
  select 
  jobs.id, jobs.task_id, tasks.identifier as task_identifier,
  jobs.job_queue_id, queues.queue_name, jobs.payload, jobs.priority,
  floor(extract(epoch from jobs.run_at) * 1000000) as run_at_us,
  jobs.attempts, jobs.max_attempts, jobs.last_error,
  floor(extract(epoch from jobs.created_at) * 1000000) as created_at_us,
  floor(extract(epoch from jobs.updated_at) * 1000000) as updated_at_us,
  jobs.key, floor(extract(epoch from jobs.locked_at) * 1000000) as locked_at_us, jobs.locked_by,
  jobs.revision, jobs.flags, jobs.is_available,
  case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > now() then 'scheduled'
    else 'ready'
  end as state, (select count(*)::int from page) as found
  from shown
  join "worker"._private_jobs as jobs on jobs.id = shown.id
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  where shown.bytes_before < 8388608
  order by jobs.id
