select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

select (select identifier from "worker"._private_tasks as tasks where tasks.id = running.task_id) as task, running.jobs as running
from (
  select jobs.task_id, pg_catalog.count(*)::int as jobs from "worker"._private_jobs as jobs
  where jobs.locked_at is not null and jobs.id = any(array(
    select list.id::bigint
    from (
    select summed.id, summed.last_heartbeat_at, summed.started_at, summed.report_bytes,
      summed.report_bytes > 16777216::bigint as is_cut,
      case when summed.report_bytes <= 16777216::bigint and pg_catalog.jsonb_typeof(summed.metadata) = 'object'
        then summed.metadata || '{}'::jsonb end as metadata
    from (
      select latest.*,
        pg_catalog.sum(latest.bytes) over (order by latest.bytes, latest.id rows unbounded preceding)::bigint as report_bytes
      from (
        select workers.id, workers.last_heartbeat_at, workers.started_at, workers.metadata,
          coalesce(pg_catalog.pg_column_size(workers.metadata)::bigint * case pg_catalog.pg_column_compression(workers.metadata)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end, 0) as bytes
        from "worker"._private_workers as workers
        where pg_catalog.octet_length(workers.id) <= 4096::int and true
        order by workers.last_heartbeat_at desc limit 10000
      ) as latest
    ) as summed
  ) as workers
    cross join lateral (select id from pg_catalog.jsonb_array_elements_text(
      case when pg_catalog.jsonb_typeof(workers.metadata -> 'running_job_ids'::text) = 'array'
        then workers.metadata -> 'running_job_ids'::text else '[]'::jsonb end) as ids (id)
      limit 1000) as list
    where case when pg_catalog.length(list.id) < 19 then list.id ~ '^[0-9]+$' else false end
    limit 50000))
  group by jobs.task_id
) as running
