  select
    count(*) filter (where jobs.id is null)::int as gone,
    count(*) filter (where 
  jobs.locked_at is null and jobs.last_error is not null
    and jobs.updated_at > was.left_at and jobs.attempts > was.left_attempts)::int as failed_again,
    count(*)::int as total
  from "worker"._private_operation_rows as was
  left join "worker"._private_jobs as jobs on jobs.id = was.job_id
  where was.operation_id = $1::bigint and was.outcome = 'd'
