  with counts as (
    select
      job_queue_id,
      pg_catalog.count(*) as job_count,
      pg_catalog.count(*) filter (where jobs.is_available and jobs.run_at <= pg_catalog.now())::int as ready_count,
    pg_catalog.count(*) filter (where jobs.is_available and jobs.run_at > pg_catalog.now())::int as scheduled_count,
    pg_catalog.count(*) filter (where jobs.locked_at is not null and not jobs.is_available)::int as locked_count,
    pg_catalog.count(*) filter (where jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available)::int as failed_count
    from "worker"._private_jobs as jobs
    where job_queue_id is not null
    group by job_queue_id
  )
  select
    queues.id, queues.queue_name,
    pg_catalog.floor(extract(epoch from case when coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null then queues.locked_at else case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then queues.locked_at end end) * 1000000::numeric)::text as locked_at_us, case when coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null then pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) else case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then pg_catalog.left(queues.locked_by, 1024) end end as locked_by,
    (coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) and not (coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null)) as is_paused,
    coalesce(counts.job_count, 0)::text as job_count,
    coalesce(counts.ready_count, 0)::text as ready_count,
    coalesce(counts.scheduled_count, 0)::text as scheduled_count,
    coalesce(counts.locked_count, 0)::text as locked_count,
    coalesce(counts.failed_count, 0)::text as failed_count
  from "worker"._private_job_queues as queues
  left join counts on counts.job_queue_id = queues.id
  order by queues.locked_at nulls last, queues.queue_name
  limit $1::int
