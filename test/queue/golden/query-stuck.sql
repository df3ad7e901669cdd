select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  select id, (coalesce(workers.metadata ? 'recovered_at'::text, false) or ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end) as is_stale
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
  order by last_heartbeat_at desc
  limit 10000;

  select array(
    select queues.id from "worker"._private_job_queues as queues
    where not queues.is_available and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false)
    and queues.locked_at is not null and (pg_catalog.left(queues.locked_by, 1024) = any($1::text[])
    or queues.locked_at < $3::timestamptz and (pg_catalog.left(queues.locked_by, 1024) = any($2::text[])) is not true)
    order by queues.id
  )::text as ids;

-- is:stuck or running>10m worker:host*
select jobs.id, null::text as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and (((jobs.locked_at is not null and (pg_catalog.left(jobs.locked_by, 1024) = any($2::text[])
    or jobs.locked_at < $3::text::timestamptz and (pg_catalog.left(jobs.locked_by, 1024) = any($4::text[])) is not true)) or (jobs.is_available and jobs.run_at <= $5::text::timestamptz and jobs.job_queue_id = any($6::int[]))) or ((jobs.locked_at is not null and not jobs.is_available and jobs.locked_at < $7::text::timestamptz) and ((jobs.locked_at is not null and not jobs.is_available) and (pg_catalog.starts_with(jobs.locked_by collate "C", $8::text)))))
order by jobs.id
