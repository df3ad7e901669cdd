  select
    pg_catalog.count(*) filter (where jobs.id is null)::int as gone,
    pg_catalog.count(*) filter (where 
  jobs.locked_at is null and jobs.last_error is not null
    and jobs.attempts > was.left_attempts and greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= pg_catalog.now() + pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second'
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end) > was.left_at)::int as failed_again,
    pg_catalog.count(*)::int as total
  from "worker"._private_operation_rows as was
  left join "worker"._private_jobs as jobs on jobs.id = was.job_id
  where was.operation_id = $1::bigint and was.outcome = 'd'
