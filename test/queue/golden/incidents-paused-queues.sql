  select id, queue_name from "worker"._private_job_queues as queues
  where not is_available and coalesce(queues.locked_by like 'paused:%', false)
  order by queue_name limit 500
