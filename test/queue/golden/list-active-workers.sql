select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  select
    id,
    pg_catalog.floor(extract(epoch from last_heartbeat_at) * 1000000::numeric)::text as last_heartbeat_at_us,
    pg_catalog.floor(extract(epoch from started_at) * 1000000::numeric)::text as started_at_us,
    case when report_bytes <= 2097152::bigint then metadata end::text as metadata,
    report_bytes > 2097152::bigint as is_left_out,
    case when pg_catalog.jsonb_typeof(workers.metadata -> 'running_jobs'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'running_jobs'::text) <= 25
      then greatest((workers.metadata ->> 'running_jobs'::text)::float8, 0::float8) end as running,
    case when pg_catalog.jsonb_typeof(workers.metadata -> 'done_per_min'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'done_per_min'::text) <= 25
      then greatest((workers.metadata ->> 'done_per_min'::text)::float8, 0::float8) end as done_per_min,
    case when pg_catalog.jsonb_typeof(workers.metadata -> 'failed_per_min'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'failed_per_min'::text) <= 25
      then greatest((workers.metadata ->> 'failed_per_min'::text)::float8, 0::float8) end as failed_per_min,
    coalesce(last_heartbeat_at < pg_catalog.now() - $1::float8 * interval '1 second', (coalesce(workers.metadata ? 'recovered_at'::text, false) or ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end)) as is_stale
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
  order by id
  limit 1000
