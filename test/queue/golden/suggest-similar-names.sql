  select queue_name as name from "worker"._private_job_queues
  where pg_catalog.abs(pg_catalog.char_length(queue_name) - $1::int) <= greatest(2, $1::int / 2)
  order by queue_name limit 20000;

  select identifier as name from "worker"._private_tasks
  where pg_catalog.abs(pg_catalog.char_length(identifier) - $1::int) <= greatest(2, $1::int / 2)
  order by identifier limit 20000
