select queue_name from "worker"._private_job_queues where id = $1::int
