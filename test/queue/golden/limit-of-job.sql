select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

select l.id, pg_catalog.left(l.name, 512) as name, l.scope, pg_catalog.left(l.match, 512) as match, l.concurrency, l.rate, l.period_ms::text, l.burst, l.source, pg_catalog.left(l.set_by, 512) as set_by,
  pg_catalog.floor(extract(epoch from l.set_at) * 1000000::numeric)::text as set_us, pg_catalog.abs(l.revision) as revision,
  pg_catalog.floor(extract(epoch from b.until) * 1000000::numeric)::text as until_us,
  ((extract(epoch from b.until)::float8 - extract(epoch from pg_catalog.now())::float8) * 1000::float8) as left_ms, pg_catalog.left(b.reason, 2000) as reason
from "worker"._private_limits l
left join lateral (
  select until, reason from "worker"._private_back_offs
  where scope = 'limit' and name = l.name and until > pg_catalog.now()
  order by until desc limit 1) b on true
order by l.id limit 1000;

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
) as running;

select limit_id as id, least(pg_catalog.sum(permits), 2147483647::bigint)::int as permits,
  least(pg_catalog.sum(in_use), 2147483647::bigint)::int as in_use
from "worker"._private_limit_permits group by limit_id;

select limit_id, key,
  ((extract(epoch from tat)::float8 - extract(epoch from pg_catalog.clock_timestamp())::float8) * 1000::float8) as ahead_ms
from "worker"._private_rates where pg_catalog.octet_length(key) <= 4096::int and tat > pg_catalog.clock_timestamp() - interval '10 seconds'
order by tat desc limit 10000;

  with recursive priorities (priority, place) as (
    (select priority, 1 from "worker"._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < 32
  ), walked as (
    select due.* from priorities, lateral (
      select task_id, job_queue_id from "worker"._private_jobs as jobs
      where is_available and jobs.priority = priorities.priority and run_at <= pg_catalog.now()
      order by run_at limit 5000
    ) as due
    where priorities.priority is not null
    limit 5000
  )
  select pg_catalog.count(*) < 5000
      and (select pg_catalog.count(priority) < 32 from priorities) as is_whole,
    pg_catalog.count(*) filter (where case when $1::text is null then job_queue_id = $2::int
      else task_id in (select id from "worker"._private_tasks where identifier like $1::text) end)::int as waiting
  from walked
