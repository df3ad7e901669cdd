with busy as materialized (
  select queue_id, pg_catalog.count(*)::int as running
  from "worker"._private_queue_slots where locked_by is not null
  group by queue_id order by running desc limit 10000
)
select queues.queue_name as name, busy.running,
  (select pg_catalog.count(*)::int from "worker"._private_queue_slots as slots
    where slots.queue_id = busy.queue_id) as slots
from busy
join "worker"._private_job_queues as queues on queues.id = busy.queue_id
order by busy.running desc, queues.queue_name
