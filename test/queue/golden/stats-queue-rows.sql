  select id, queue_name, pg_catalog.floor(extract(epoch from case when queues.locked_at < 'infinity'::timestamptz and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null then queues.locked_at else case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then queues.locked_at end end) * 1000000::numeric) as locked_at_us,
    case when queues.locked_at < 'infinity'::timestamptz and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null then pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) else case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then pg_catalog.left(queues.locked_by, 1024) end end as locked_by, (coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) and not (queues.locked_at < 'infinity'::timestamptz and pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) is not null)) as is_paused
  from "worker"._private_job_queues as queues
  order by locked_at_us nulls last, queue_name
  limit $1::int
