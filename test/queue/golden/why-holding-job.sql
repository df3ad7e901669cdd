  select jobs.id, tasks.identifier as task, jobs.attempts, jobs.max_attempts
  from "worker"._private_jobs as jobs
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  where jobs.job_queue_id = $1::int and jobs.locked_by = $2::text and jobs.id = any($3::bigint[])
  order by jobs.id limit 1;

  select jobs.id, tasks.identifier as task, jobs.attempts, jobs.max_attempts
  from "worker"._private_jobs as jobs
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  where jobs.job_queue_id = $1::int and jobs.locked_by = $2::text and jobs.locked_at is not null and not jobs.is_available
  order by jobs.id limit 1
