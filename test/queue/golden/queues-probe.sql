  select queue.id,
    pg_catalog.count(*) filter (where waiting.is_due)::int as due,
    pg_catalog.count(*) filter (where not waiting.is_due)::int as ahead,
    pg_catalog.floor(extract(epoch from pg_catalog.min(waiting.run_at) filter (where waiting.is_due)) * 1000::numeric) as oldest_ms,
    pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000::numeric) as now_ms
  from pg_catalog.unnest($1::int[]) as queue (id)
  left join lateral (
    select jobs.run_at <= pg_catalog.now() as is_due, jobs.run_at
    from "worker"._private_jobs as jobs
    where jobs.is_available and jobs.job_queue_id is not null
      and jobs.job_queue_id = queue.id
    order by jobs.priority, jobs.run_at
    limit 201
  ) as waiting on true
  group by queue.id
