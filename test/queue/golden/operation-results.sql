  with batch as materialized (
    select images.*
    from "worker"._private_operation_rows as images
    where (images.operation_id, images.job_id) > ($3::bigint, 0::bigint)
    and (images.operation_id, images.job_id) <= ($3::bigint, 9223372036854775807) and images.outcome = 'd'
    order by images.operation_id, images.job_id
    limit 20000
  ), scanned as (
    select
      case
        when jobs.id is null then 'finished'
        when jobs.locked_at is not null then 'running'
        when 
  jobs.locked_at is null and jobs.last_error is not null
    and jobs.attempts > batch.left_attempts and greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= pg_catalog.now() + pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' and not (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end) > batch.left_at
    and not pg_catalog.left(jobs.last_error, 64::int) ~ '^(?:Marked failed |Manually marked as failed|cancelled(?:: |\n|$))'::text then 'failed_again'
        when jobs.attempts = batch.left_attempts and jobs.updated_at = batch.left_at then 'waiting'
        else 'changed'
      end as result,
      coalesce(jobs.locked_at is null and jobs.updated_at = batch.left_at and jobs.attempts = batch.left_attempts and jobs.run_at is not distinct from batch.left_at and jobs.priority is not distinct from coalesce($1::smallint, batch.priority) and jobs.max_attempts is not distinct from coalesce($2::smallint, batch.max_attempts), false) as restorable, pg_catalog.left(jobs.last_error, 300) as error
    from batch
    left join "worker"._private_jobs as jobs on jobs.id = batch.job_id
  )
  select result, restorable, case when result = 'failed_again' then error end as error,
    pg_catalog.count(*)::int as count
  from scanned
  group by 1, 2, 3
