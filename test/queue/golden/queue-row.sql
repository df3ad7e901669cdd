select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  with worker as materialized (
    select workers.id, workers.last_heartbeat_at, (coalesce(workers.metadata ? 'recovered_at'::text, false) or ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
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
  )
  select queues.id, queues.queue_name, case when coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null then pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) else case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then pg_catalog.left(queues.locked_by, 1024) end end as locked_by,
    pg_catalog.floor(extract(epoch from case when coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null then queues.locked_at else case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then queues.locked_at end end) * 1000000::numeric)::text as locked_at_us, (coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) and not (coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null)) as is_paused,
    case when not ((queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) or coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null)) then null when worker.id is null then 'unknown'
      when worker.is_stale then 'stale' else 'alive' end as holder,
    pg_catalog.floor(extract(epoch from case when not ((queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) or coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null)) then null
      when worker.id is null then case when (queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) or coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null) and queues.locked_at < pg_catalog.now() - 14400000::float8 * interval '1 millisecond' then queues.locked_at end
      when worker.is_stale then greatest(queues.locked_at, worker.last_heartbeat_at) end) * 1000000::numeric)::text as stuck_since_us
  from "worker"._private_job_queues as queues
  left join worker on worker.id = case when coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null then pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) else case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then pg_catalog.left(queues.locked_by, 1024) end end
  where queues.queue_name = $1::text or queues.id = $2::int
  order by queues.queue_name <> $1::text
  limit 1
