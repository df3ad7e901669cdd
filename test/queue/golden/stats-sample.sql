  select
    json_agg(page.running order by sampled.page)::text as running,
    json_agg(page.failed order by sampled.page)::text as failed,
    json_agg(page.blocked order by sampled.page)::text as blocked,
    json_agg(page.retrying_due order by sampled.page)::text as retrying_due,
    json_agg(page.retrying_ahead order by sampled.page)::text as retrying_ahead,
    json_agg(page.scheduled order by sampled.page)::text as scheduled,
    json_agg(page.ready order by sampled.page)::text as ready,
    floor(extract(epoch from min(page.longest)) * 1000) as longest_ms,
    floor(extract(epoch from max(page.last)) * 1000) as last_ms
  from unnest($1::bigint[]) as sampled (page)
  cross join lateral (
    select
      count(*) filter (where tallied = 'running') as running,
      count(*) filter (where tallied = 'failed') as failed,
      count(*) filter (where tallied = 'blocked') as blocked,
      count(*) filter (where tallied = 'retrying_due') as retrying_due,
      count(*) filter (where tallied = 'retrying_ahead') as retrying_ahead,
      count(*) filter (where tallied = 'scheduled') as scheduled,
      count(*) filter (where tallied = 'ready') as ready,
      min(locked_at) as longest,
      max(failed_at) as last
    from (
      select jobs.locked_at, case when jobs.locked_at is null and jobs.attempts >= jobs.max_attempts
      then greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= now() + exp(least(jobs.attempts, 10)) * interval '1 second'
      then jobs.run_at - exp(least(jobs.attempts, 10)) * interval '1 second' end) end as failed_at, case
    when jobs.locked_at is not null then 'running'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at <= now() and jobs.job_queue_id = any($2::int[]) then 'blocked'
    when jobs.attempts > 0 then case when jobs.run_at <= now() then 'retrying_due' else 'retrying_ahead' end
    when jobs.run_at > now() then 'scheduled'
    else 'ready'
  end as tallied from "worker"._private_jobs as jobs
      where jobs.ctid >= ('(' || sampled.page || ',0)')::tid
        and jobs.ctid < ('(' || (sampled.page + 1) || ',0)')::tid
        and true
      offset 0
    ) as job
  ) as page
