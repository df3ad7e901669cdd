select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  
  select queues.id, queues.queue_name, case when coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null then pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) else case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then pg_catalog.left(queues.locked_by, 1024) end end as locked_by,
    pg_catalog.floor(extract(epoch from case when coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null then queues.locked_at else case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then queues.locked_at end end) * 1000000::numeric)::text as locked_at_us, (coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) and not (coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null)) as is_paused,
    case when (queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) or coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null) then 'unknown' end as holder,
    pg_catalog.floor(extract(epoch from case when (queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) or coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null) and queues.locked_at < pg_catalog.now() - 14400000::float8 * interval '1 millisecond' then queues.locked_at end) * 1000000::numeric)::text as stuck_since_us
  from "worker"._private_job_queues as queues
  
  where queues.locked_by = $1::text and (queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) or coalesce(queues.locked_at < 'infinity'::timestamptz, false) and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null)
  order by queues.locked_at, queues.id
  limit $2::int
