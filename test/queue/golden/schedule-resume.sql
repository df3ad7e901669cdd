select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

select 
  identifier, task, pattern, time_zone, payload::text as payload, spec::text as spec, jitter_ms, overlap, revision,
  pg_catalog.floor(extract(epoch from paused_at) * 1000::numeric) as paused_ms, pg_catalog.floor(extract(epoch from next_at) * 1000::numeric) as next_ms, pg_catalog.floor(extract(epoch from pg_catalog.clock_timestamp()) * 1000::numeric) as now_ms
from "worker"._private_schedules where identifier = $1::text for update;

update "worker"._private_schedules set paused_at = null, next_at = $2::timestamptz, revision = revision + 1
where identifier = $1::text
returning 
  identifier, task, pattern, time_zone, payload::text as payload, spec::text as spec, jitter_ms, overlap, revision,
  pg_catalog.floor(extract(epoch from paused_at) * 1000::numeric) as paused_ms, pg_catalog.floor(extract(epoch from next_at) * 1000::numeric) as next_ms, pg_catalog.pg_notify('worker:schedules', pg_catalog.random()::text)
