  with per_page as materialized (
    select sampled.page, job.condition, job.bucket, pg_catalog.count(*) as count
    from pg_catalog.unnest($5::bigint[]) as sampled (page)
    cross join lateral (
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
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end) else jobs.run_at end, $1::timestamptz[]) as bucket from "worker"._private_jobs as jobs
      where jobs.ctid >= ('(' || sampled.page::text || ',0)')::tid
        and jobs.ctid < ('(' || (sampled.page + 1)::text || ',0)')::tid
        and jobs.locked_at is null
      and ($3::int is null or jobs.task_id = $3::int)
      and ($4::int is null or jobs.job_queue_id = $4::int)
      offset 0
    ) as job
    group by 1, 2, 3
  )
  select condition, null as is_failed, bucket, pg_catalog.sum(count) as count, null as squares
  from per_page group by 1, 3
  union all
  select null, is_failed, bucket, pg_catalog.sum(count), pg_catalog.sum(count * count)
  from (
    select bucket, condition = 'failed' as is_failed, pg_catalog.sum(count) as count
    from per_page group by page, 1, 2
  ) as pages
  group by is_failed, bucket
