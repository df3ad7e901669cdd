  with counts as (
    select
      job_queue_id,
      pg_catalog.count(*) as job_count,
      pg_catalog.count(*) filter (where jobs.is_available and jobs.run_at <= pg_catalog.now()) as ready_count,
    pg_catalog.count(*) filter (where jobs.is_available and jobs.run_at > pg_catalog.now()) as scheduled_count,
    pg_catalog.count(*) filter (where jobs.locked_at is not null and not jobs.is_available) as locked_count,
    pg_catalog.count(*) filter (where jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available) as failed_count
    from "worker"._private_jobs as jobs
    where job_queue_id is not null
    group by job_queue_id
  )
  select
    queues.id, queues.queue_name,
    pg_catalog.floor(extract(epoch from queues.locked_at) * 1000000::numeric) as locked_at_us, queues.locked_by,
    coalesce(counts.job_count, 0) as job_count,
    coalesce(counts.ready_count, 0) as ready_count,
    coalesce(counts.scheduled_count, 0) as scheduled_count,
    coalesce(counts.locked_count, 0) as locked_count,
    coalesce(counts.failed_count, 0) as failed_count
  from "worker"._private_job_queues as queues
  left join counts on counts.job_queue_id = queues.id
  order by queues.locked_at nulls last, queues.queue_name
  limit $1::int
