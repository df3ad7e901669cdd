select id, queue_name as name from "worker"._private_job_queues where id = any($1::int[])
