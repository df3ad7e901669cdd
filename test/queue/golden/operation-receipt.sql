  select was.job_id as id, $2::text <> 'failed_again' or coalesce(
  jobs.locked_at is null and jobs.last_error is not null
    and jobs.updated_at > was.left_at and jobs.attempts > was.left_attempts, false) as is_one
  from (
    select job_id, left_at, left_attempts
    from "worker"._private_operation_rows
    where operation_id = $1::bigint and job_id > $3::bigint
    and outcome = case $2::text when 'locked' then 'l' when 'gone' then 'g' else 'd' end::"char"
    order by job_id
    limit $4::int
  ) as was
  left join "worker"._private_jobs as jobs on jobs.id = was.job_id and $2::text = 'failed_again'
  order by was.job_id
