  select pg_catalog.json_agg(sampled.place - 1)::text as places, pg_catalog.json_agg(job.task_id)::text as tasks,
    pg_catalog.json_agg(job.job_queue_id)::text as queues, pg_catalog.json_agg(job.is_locked)::text as locked,
    pg_catalog.sum(job.payload_bytes)::float8 as payload_bytes, pg_catalog.sum(job.error_bytes)::float8 as error_bytes
  from pg_catalog.unnest($1::bigint[]) with ordinality as sampled (page, place)
  cross join lateral (
      select jobs.task_id, jobs.job_queue_id, jobs.locked_at is not null as is_locked, pg_catalog.pg_column_size(jobs.payload) as payload_bytes,
      coalesce(pg_catalog.pg_column_size(jobs.last_error), 0) as error_bytes from "worker"._private_jobs as jobs
      where jobs.ctid >= ('(' || sampled.page::text || ',0)')::tid
        and jobs.ctid < ('(' || (sampled.page + 1)::text || ',0)')::tid
        and jobs.id <= $2::bigint and (jobs.task_id = any($3::int[]))
      offset 0
  ) as job
