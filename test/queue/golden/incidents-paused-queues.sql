  select id, queue_name from "worker"._private_job_queues as queues
  where not is_available and coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false)
  order by queue_name limit 500
