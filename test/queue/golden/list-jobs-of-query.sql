select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

  (select true as is_task, id, identifier as name
    from "worker"._private_tasks
    where identifier = any($1::text[]) or identifier collate "C" like any ($2::text[])
    limit 10001)
  union all
  (select false, id, queue_name
    from "worker"._private_job_queues
    where queue_name = any($3::text[]) or queue_name collate "C" like any ($4::text[])
    limit 10001)
