  select pg_catalog.pg_relation_size(pg_catalog.to_regclass($1::text)) / pg_catalog.current_setting('block_size')::int
    <= 4096 as is_small;

  with found as materialized (
    select jobs.id from "worker"._private_jobs as jobs
    where jobs.is_available and jobs.job_queue_id is not null and jobs.job_queue_id = $1::int and jobs.run_at <= pg_catalog.now()
    order by jobs.priority, jobs.run_at, jobs.id limit $2::int
  )
  
  select jobs.id, tasks.identifier as task, jobs.priority, jobs.attempts, jobs.max_attempts,
    pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric) as run_at_us,
    pg_catalog.floor(extract(epoch from jobs.created_at) * 1000000::numeric) as created_at_us,
    pg_catalog.floor(extract(epoch from jobs.locked_at) * 1000000::numeric) as locked_at_us
  from found
  join "worker"._private_jobs as jobs on jobs.id = found.id
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id order by jobs.priority, jobs.run_at, jobs.id;

  with found as materialized (
    select jobs.id from "worker"._private_jobs as jobs
    where jobs.job_queue_id is not null and jobs.job_queue_id = $1::int
    order by jobs.id desc limit $2::int
  )
  
  select jobs.id, tasks.identifier as task, jobs.priority, jobs.attempts, jobs.max_attempts,
    pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric) as run_at_us,
    pg_catalog.floor(extract(epoch from jobs.created_at) * 1000000::numeric) as created_at_us,
    pg_catalog.floor(extract(epoch from jobs.locked_at) * 1000000::numeric) as locked_at_us
  from found
  join "worker"._private_jobs as jobs on jobs.id = found.id
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id order by jobs.id desc;

  with found as materialized (
    select jobs.id from "worker"._private_jobs as jobs
    where jobs.locked_at is not null and not jobs.is_available and jobs.job_queue_id is not null and jobs.job_queue_id = $1::int and ($2::bigint[] is null or jobs.id = any($2::bigint[]))
    order by jobs.locked_at, jobs.priority, jobs.run_at, jobs.id limit 1
  )
  
  select jobs.id, tasks.identifier as task, jobs.priority, jobs.attempts, jobs.max_attempts,
    pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric) as run_at_us,
    pg_catalog.floor(extract(epoch from jobs.created_at) * 1000000::numeric) as created_at_us,
    pg_catalog.floor(extract(epoch from jobs.locked_at) * 1000000::numeric) as locked_at_us
  from found
  join "worker"._private_jobs as jobs on jobs.id = found.id
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
