  with 
  job as (
    select task_id, job_queue_id, locked_by, tallied, 0 as page,
      case tallied when 'running' then locked_at when 'failed' then updated_at else run_at end as at
    from (
      select jobs.task_id, jobs.job_queue_id, jobs.locked_by,
        jobs.locked_at, jobs.updated_at, jobs.run_at, case
    when jobs.locked_at is not null then 'running'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at <= now() and jobs.job_queue_id = any($1::int[]) then 'blocked'
    when jobs.attempts > 0 then case when jobs.run_at <= now() then 'retrying_due' else 'retrying_ahead' end
    when jobs.run_at > now() then 'scheduled'
    else 'ready'
  end as tallied
      from "worker"._private_jobs as jobs
      where true
      offset 0
    ) as jobs
  ) 
  select kind, tallied, json_agg(key)::text as keys, json_agg(count)::text as counts,
    json_agg(squares)::text as squares, json_agg(floor(extract(epoch from at) * 1000))::text as times
  from (
    select kind, key, tallied, sum(count) as count, sum(count * count) as squares,
      case when tallied = 'failed' then max(last) else min(first) end as at
    from (
      select
        case grouping(task_id, job_queue_id, locked_by)
          when 3 then 'task' when 5 then 'queue' else 'holder' end as kind,
        coalesce(task_id::text, job_queue_id::text, locked_by) as key,
        tallied, count(*) as count, min(at) as first, max(at) as last
      from job
      group by grouping sets
        ((page, task_id, tallied), (page, job_queue_id, tallied), (page, locked_by, tallied))
      having grouping(locked_by) = 1 or locked_by is not null
    ) as on_page
    group by kind, key, tallied
  ) as of_name
  group by kind, tallied
