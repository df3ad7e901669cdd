select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with due as materialized (
  select scope, name from "worker"._private_pauses
  where resume_at <= pg_catalog.now() order by scope, name for update skip locked
), paused as materialized (
  select queues.id, queues.queue_name, not exists (select from "worker"._private_queue_slots as slots where slots.queue_id = queues.id) and case
    when case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end is null then false
    when exists (select from "worker"._private_workers as workers
      where workers.id = case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end and not coalesce(workers.metadata ? 'recovered_at'::text, false)) then true
    else exists (select from "worker"._private_jobs as jobs
      where jobs.job_queue_id = queues.id and not jobs.is_available and jobs.locked_at is not null and not jobs.is_available) end as is_busy
  from "worker"._private_job_queues as queues
  where queues.queue_name in (select name from due where scope = 'queue') and coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false)
  order by queues.id for update
), unlocked as (
  update "worker"._private_job_queues as queues set locked_at = case when exists (select from "worker"._private_queue_slots as slots where slots.queue_id = queues.id) then 'infinity'::timestamptz end,
    locked_by = case when exists (select from "worker"._private_queue_slots as slots where slots.queue_id = queues.id) then 'managed:0' end
  where id in (select id from paused where not is_busy)
), dated as (
  update "worker"._private_job_queues set locked_at = pg_catalog.now()
  where id in (select id from paused where is_busy) and locked_at = 'infinity'::timestamptz
), ended as (
  delete from "worker"._private_pauses as pauses using due
  where pauses.scope = due.scope and pauses.name = due.name
  and (due.scope <> 'queue' or due.name not in (select queue_name from paused where is_busy))
  returning 1
)
select pg_catalog.count(*)::int as ended, case when pg_catalog.count(*) > 0 then pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":1,"resumed":true}', pg_catalog.random())) end from ended
