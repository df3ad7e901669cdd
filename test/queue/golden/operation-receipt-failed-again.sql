  select images.job_id as id,
    coalesce(
  jobs.locked_at is null and jobs.last_error is not null
    and jobs.attempts > images.left_attempts and greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= pg_catalog.now() + pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' and not (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end) > images.left_at
    and not pg_catalog.left(jobs.last_error, 64::int) ~ '^(?:Marked failed |Manually marked as failed|cancelled(?:: |\n|$))'::text, false) as has_outcome
  from (
    select images.job_id, images.left_at, images.left_attempts
    from "worker"._private_operation_rows as images
    join "worker"._private_operations as operation on operation.id = images.operation_id
    where (images.operation_id, images.job_id) > ($1::bigint, $2::bigint)
    and (images.operation_id, images.job_id) <= ($1::bigint, 9223372036854775807)
    and images.outcome = 'd'
    order by images.operation_id, images.job_id
    limit $3::int
  ) as images
  left join "worker"._private_jobs as jobs on jobs.id = images.job_id
  order by images.job_id
