select 
  j.id, j.task_id, j.payload, j.priority, greatest(pg_catalog.date_part('epoch', j.run_at), -8640000000000), j.attempts + 1, j.max_attempts,
  j.revision, j.flags, greatest(pg_catalog.date_part('epoch', j.created_at), -8640000000000), j.last_error, j.key,
  (select t.identifier from "worker"._private_tasks t where t.id = j.task_id) 
from "worker"._private_jobs j
where j.is_available and j.run_at <= pg_catalog.now() and j.job_queue_id is null
  and j.priority = (select priority from "worker"._private_jobs
    where is_available and job_queue_id is null order by priority limit 1)
  and j.task_id = any(array(
    select t.id from "worker"._private_tasks t where t.identifier = any($1::text[]))) and (j.key is null and j.xmax = 0)
  and (j.flags is null or not j.flags ?| $3::text[])
order by j.run_at limit $2::int for update skip locked
