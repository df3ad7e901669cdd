  with chunk as materialized (
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
    limit $9::int
  ), found as materialized (
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
    and jobs.id <= (select max(id) from chunk)
    and (
      (jobs.id = $5::bigint or jobs.key = $6::text)
      or jobs.task_id in (
        select id from "worker"._private_tasks
        where identifier  ilike any ($7::text[])
      )
      or jobs.job_queue_id in (
        select id from "worker"._private_job_queues
        where queue_name  ilike any ($7::text[])
      )
      or jobs.key  ilike any ($7::text[])
      or jobs.locked_by  ilike any ($7::text[])
      or jobs.last_error  ilike any ($7::text[])
      or jobs.payload::text  ilike any ($7::text[])
    )
    and (not $8::boolean or (jobs.id = $5::bigint or jobs.key = $6::text) is not true)
    order by jobs.id
    limit $10::bigint + $11::bigint
  ), summary as (
    select
      (select count(*)::int from chunk) as searched,
      (select max(id) from chunk) as searched_to,
      (select count(*)::int from found) as matched
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
  end as state, summary.searched, summary.searched_to, summary.matched
  from summary
  left join (select id from found order by id offset $10::bigint) as page on true
  left join "worker"._private_jobs as jobs on jobs.id = page.id
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  order by jobs.id
