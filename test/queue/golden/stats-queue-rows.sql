  select id, queue_name, pg_catalog.floor(extract(epoch from locked_at) * 1000000::numeric) as locked_at_us, pg_catalog.left(queues.locked_by, 1024) as locked_by
  from "worker"._private_job_queues as queues
  order by locked_at nulls last, queue_name
  limit $1::int
