select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

select 
  identifier, task, pattern, time_zone, payload::text as payload, spec::text as spec, jitter_ms, overlap, revision,
  pg_catalog.floor(extract(epoch from paused_at) * 1000::numeric) as paused_ms, pg_catalog.floor(extract(epoch from next_at) * 1000::numeric) as next_ms from "worker"._private_schedules
where $1::text is null or identifier > $1::text
order by identifier limit $2::int
