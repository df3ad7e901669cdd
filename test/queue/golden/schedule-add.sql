select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

select pg_catalog.floor(extract(epoch from pg_catalog.clock_timestamp()) * 1000::numeric) as now_ms, exists (select from "worker"._private_schedules where identifier = $1::text) as is_there,
  (select pg_catalog.count(*)::int from (select from "worker"._private_schedules limit 10000) as first) as count;

with written as (
  insert into "worker"._private_schedules
  (identifier, task, pattern, time_zone, payload, spec, jitter_ms, overlap, next_at)
values ($1::text, $2::text, $3::text, $4::text, $5::text::json, $6::text::jsonb, $7::int, $8::text, $9::text::timestamptz)
on conflict (identifier) do nothing
  returning *
)
select 
  identifier, pg_catalog.left(task, 512) as task, pg_catalog.left(pattern, 2000) as pattern,
  pg_catalog.left(time_zone, 512) as time_zone,
  case when case when pg_catalog.pg_column_size(payload) > 65536::int then false
      when pg_catalog.pg_column_compression(payload) is not null then pg_catalog.octet_length(payload::text) <= 65536::int
      else true end then payload::text end as payload,
  (case when case when pg_catalog.pg_column_size(spec) > 8192::int then false
      when pg_catalog.pg_column_compression(spec) is not null then pg_catalog.octet_length(spec::text) <= 8192::int
      else true end then spec else '{}'::jsonb end)::text as spec, jitter_ms, overlap, revision,
  pg_catalog.floor(extract(epoch from paused_at) * 1000::numeric) as paused_ms, pg_catalog.floor(extract(epoch from next_at) * 1000::numeric) as next_ms, pg_catalog.pg_notify('worker:schedules', pg_catalog.random()::text) from written
