  with lost_queue as materialized (
    select jobs.job_queue_id as id, pg_catalog.count(*)::int as jobs
    from "worker"._private_jobs as jobs
    where jobs.job_queue_id is not null and not exists (
      select from "worker"._private_job_queues as queues where queues.id = jobs.job_queue_id
    )
    group by jobs.job_queue_id
    limit 10000
  )
  select
    (select coalesce(pg_catalog.json_agg(id order by id), '[]')::text from lost_queue) as queues,
    (select coalesce(pg_catalog.sum(jobs), 0)::int from lost_queue) as queued_jobs,
    (select pg_catalog.count(*)::int from "worker"._private_jobs as jobs where not exists (
      select from "worker"._private_tasks as tasks where tasks.id = jobs.task_id
    )) as taskless_jobs
