  select pg_catalog.left(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end, 1024) as worker_id
  from "worker"._private_job_queues as queues where queues.id = $1::int
