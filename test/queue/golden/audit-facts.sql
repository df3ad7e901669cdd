  select jobs.id, case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as state, pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric) as run_at_us,
    jobs.priority, jobs.attempts, jobs.max_attempts
  from "worker"._private_jobs as jobs
  where jobs.id = any($1::bigint[]) or jobs.key = $2::text
  order by jobs.id
