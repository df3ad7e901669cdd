select id, queue_name as name from "worker"._private_job_queues where queue_name = any($1::text[])
