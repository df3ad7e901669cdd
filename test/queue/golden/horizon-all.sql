  select condition, bucket, pg_catalog.count(*) as count
  from (
    select 
      case
    when jobs.locked_at is not null then 'running'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at <= pg_catalog.now() and jobs.job_queue_id = any($2::int[]) then 'blocked'
    when jobs.attempts > 0 then 'retrying'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as condition,
      pg_catalog.width_bucket(case when jobs.locked_at is null and jobs.attempts >= jobs.max_attempts
        then greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= pg_catalog.now() + pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' and not (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end) else jobs.run_at end, $1::timestamptz[]) as bucket
    from "worker"._private_jobs as jobs
    where jobs.locked_at is null
      and ($3::int is null or jobs.task_id = $3::int)
      and ($4::int is null or jobs.job_queue_id = $4::int)
  ) as placed
  group by 1, 2
