select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  
  select queues.id, queues.queue_name, case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then pg_catalog.left(queues.locked_by, 1024) end as locked_by,
    pg_catalog.floor(extract(epoch from case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then queues.locked_at end) * 1000000::numeric)::text as locked_at_us, coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) as is_paused,
    case when queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then 'unknown' end as holder,
    pg_catalog.floor(extract(epoch from case when queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) and queues.locked_at < pg_catalog.now() - 14400000::float8 * interval '1 millisecond' then queues.locked_at end) * 1000000::numeric)::text as stuck_since_us
  from "worker"._private_job_queues as queues
  
  where queues.locked_by = $1::text and queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false)
  order by queues.locked_at, queues.id
  limit $2::int
