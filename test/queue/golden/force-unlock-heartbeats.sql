select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  with worker as (
    select id, pg_catalog.min(n) as n from pg_catalog.unnest($1::text[]) with ordinality as requested (id, n) group by id
  ), jobs as (
    update "worker"._private_jobs as job
    set locked_by = null, locked_at = null
    from worker
    where job.locked_by = worker.id and job.locked_at is not null and not job.is_available
    returning worker.id
  ), queues as (
    update "worker"._private_job_queues as queue
    set locked_by = null, locked_at = null
    from worker
    where queue.locked_by = worker.id and not coalesce(pg_catalog.left(queue.locked_by, 8) like any (array['paused:%', 'managed:%']), false)
    returning worker.id
  ), runs as (
    select id from queues
  )
  select (select pg_catalog.count(*)::text from jobs) as jobs, (select pg_catalog.count(*)::text from runs) as queues, pg_catalog.to_json(array(
    select id from worker
    where not exists (select from jobs where jobs.id = worker.id)
    and not exists (select from runs where runs.id = worker.id)
    and not exists (select from "worker"._private_workers as known where known.id = worker.id)
    order by n
  ))::text as unknown,
  case when exists (select from jobs) or exists (select from runs) then pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1)) end
