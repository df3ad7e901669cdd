select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with pause as materialized (
  select scope from "worker"._private_pauses where scope = $1::text and name = any($2::text[])
  order by name for update
), queue as materialized (
  select queues.id, queues.queue_name, queues.locked_by from "worker"._private_job_queues as queues
  where (select pg_catalog.count(*) from pause) >= 0
  and queues.queue_name = any($2::text[]) and coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false)
  order by queues.id for update
), busy as materialized (
  select id, queue_name from queue where not exists (select from "worker"._private_queue_slots as slots where slots.queue_id = queue.id) and case
    when case when coalesce(pg_catalog.left(queue.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queue.locked_by, nullif(pg_catalog.strpos(queue.locked_by, pg_catalog.chr(10)), 0) + 1) end is null then false
    else exists (select from "worker"._private_jobs as jobs
      where jobs.job_queue_id = queue.id and not jobs.is_available and jobs.locked_at is not null and not jobs.is_available) end
), unlocked as (
  update "worker"._private_job_queues as queues set locked_at = case when exists (select from "worker"._private_queue_slots as slots where slots.queue_id = queues.id) then 'infinity'::timestamptz end,
    locked_by = case when exists (select from "worker"._private_queue_slots as slots where slots.queue_id = queues.id) then 'managed:0' end
  where id in (select id from queue) and id not in (select id from busy)
  returning 1
), dated as (
  update "worker"._private_job_queues set locked_at = pg_catalog.now()
  where id in (select id from busy)
), due as (
  insert into "worker"._private_pauses as pauses (scope, name, resume_at)
  select $1::text, queue_name, pg_catalog.now() from busy
  on conflict (scope, name) do update set resume_at = excluded.resume_at
), ended as (
  delete from "worker"._private_pauses
  where scope = $1::text and name = any($2::text[]) and name not in (select queue_name from busy)
)
select exists (select from queue) as was_paused, exists (select from busy) as waits, pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":1,"resumed":true}', pg_catalog.random())), pg_catalog.pg_notify('worker:control', 'pauses')
