  select id, queue_name, pg_catalog.floor(extract(epoch from case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then queues.locked_at end) * 1000000::numeric) as locked_at_us,
    case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then pg_catalog.left(queues.locked_by, 1024) end as locked_by, coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) as is_paused
  from "worker"._private_job_queues as queues
  order by locked_at_us nulls last, queue_name
  limit $1::int
