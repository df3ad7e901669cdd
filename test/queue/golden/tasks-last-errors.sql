  select distinct on (jobs.task_id) jobs.task_id, pg_catalog.left(jobs.last_error, 300) as start
  from "worker"._private_jobs as jobs
  where jobs.task_id = any ($1::int[]) and jobs.last_error is not null
  order by jobs.task_id, greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= pg_catalog.now() + pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second'
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end) desc, jobs.id desc
