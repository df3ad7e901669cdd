  select id, queue_name, pg_catalog.left(queues.locked_by, 1024) as locked_by, pg_catalog.floor(extract(epoch from locked_at) * 1000000::numeric) as locked_us
  from "worker"._private_job_queues as queues
  where locked_at < pg_catalog.now() - interval '60 seconds' and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false)
  order by locked_at limit 500
