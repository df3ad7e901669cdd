select later.later_ms, due.* from (
  select pg_catalog.floor(extract(epoch from pg_catalog.min(next_at)) * 1000::numeric) as later_ms
  from "worker"._private_schedules where paused_at is null and next_at > $1::timestamptz
) as later left join (
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
      when 'lz4' then 255 when 'pglz' then 90 else 1 end else 0::bigint end) over (order by next_at, identifier rows unbounded preceding)::bigint as page_bytes
    from (
      select * from "worker"._private_schedules where pg_catalog.octet_length(identifier) <= 4096::int and paused_at is null and next_at <= $1::timestamptz and case when next_at >= $2::timestamptz then true
      else next_at >= $2::timestamptz - (select case when pg_catalog.jsonb_typeof(spec->'fillMs'::text) = 'number'::text
      and pg_catalog.length(spec->>'fillMs'::text) <= 25
    then least((spec->>'fillMs'::text)::float8, 31622400000::float8) else 0::float8 end from (select case when case when pg_catalog.pg_column_size(spec) > 8192::int then false
      when pg_catalog.pg_column_compression(spec) is not null then pg_catalog.octet_length(spec::text) <= 8192::int
      else true end then spec else '{}'::jsonb end as spec offset 0) as options) * interval '1 millisecond' end
        and (next_at > $3::timestamptz or next_at = $3::timestamptz and identifier > $4::text)
      order by next_at, identifier limit 100
    ) as stored
  ) as schedules
  where page_bytes - (case when pg_catalog.pg_column_compression(payload) is not null and pg_catalog.pg_column_size(payload) <= 65536::int then pg_catalog.pg_column_size(payload)::bigint * case pg_catalog.pg_column_compression(payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end else 0::bigint end + case when pg_catalog.pg_column_compression(spec) is not null and pg_catalog.pg_column_size(spec) <= 8192::int then pg_catalog.pg_column_size(spec)::bigint * case pg_catalog.pg_column_compression(spec)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end else 0::bigint end) < 16777216::bigint
  order by next_at, identifier
) as due on true
