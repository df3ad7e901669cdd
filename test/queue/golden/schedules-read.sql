select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  select 
  identifier, pg_catalog.left(task, 512) as task, pg_catalog.left(pattern, 2000) as pattern,
  pg_catalog.left(time_zone, 512) as time_zone,
  case when case when pg_catalog.pg_column_size(payload) > 65536::int then false
      when pg_catalog.pg_column_compression(payload) is not null then pg_catalog.octet_length(payload::text) <= 65536::int
      else true end then payload::text end as payload,
  (case when case when pg_catalog.pg_column_size(spec) > 8192::int then false
      when pg_catalog.pg_column_compression(spec) is not null then pg_catalog.octet_length(spec::text) <= 8192::int
      else true end then spec else '{}'::jsonb end)::text as spec, jitter_ms, overlap, revision,
  pg_catalog.floor(extract(epoch from paused_at) * 1000::numeric) as paused_ms, pg_catalog.floor(extract(epoch from next_at) * 1000::numeric) as next_ms, pg_catalog.floor(extract(epoch from next_at) * 1000000::numeric) as next_us, page_bytes from (
    select stored.*, pg_catalog.sum(case when pg_catalog.pg_column_compression(payload) is not null and pg_catalog.pg_column_size(payload) <= 65536::int then pg_catalog.pg_column_size(payload)::bigint * case pg_catalog.pg_column_compression(payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end else 0::bigint end + case when pg_catalog.pg_column_compression(spec) is not null and pg_catalog.pg_column_size(spec) <= 8192::int then pg_catalog.pg_column_size(spec)::bigint * case pg_catalog.pg_column_compression(spec)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end else 0::bigint end) over (order by identifier rows unbounded preceding)::bigint as page_bytes
    from (
      select * from "worker"._private_schedules where pg_catalog.octet_length(identifier) <= 4096::int and ($1::text is null or identifier > $1::text)
      order by identifier limit $2::int
    ) as stored
  ) as schedules
  where page_bytes - (case when pg_catalog.pg_column_compression(payload) is not null and pg_catalog.pg_column_size(payload) <= 65536::int then pg_catalog.pg_column_size(payload)::bigint * case pg_catalog.pg_column_compression(payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end else 0::bigint end + case when pg_catalog.pg_column_compression(spec) is not null and pg_catalog.pg_column_size(spec) <= 8192::int then pg_catalog.pg_column_size(spec)::bigint * case pg_catalog.pg_column_compression(spec)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end else 0::bigint end) < 16777216::bigint
  order by identifier
