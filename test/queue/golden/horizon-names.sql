  select
    (select id from "worker"._private_tasks where identifier = $1::text) as task_id,
    (select id from "worker"._private_job_queues where queue_name = $2::text) as queue_id
