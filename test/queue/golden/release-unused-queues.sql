with unused as materialized (
  select queues.id, queues.queue_name, queues.xmin as version from "worker"._private_job_queues as queues
  where queues.id > $1::int and coalesce(pg_catalog.left(queues.locked_by, 8) = 'managed:', false)
  and not exists (select from "worker"._private_jobs as jobs where jobs.job_queue_id = queues.id)
  order by queues.id limit $2::int
), row as materialized (
  select queues.id from "worker"._private_job_queues as queues join unused on unused.id = queues.id
  where queues.xmin = unused.version order by queues.id for update of queues skip locked
), free as materialized (
  select slots.queue_id, slots.slot from "worker"._private_queue_slots as slots
  where slots.queue_id in (select id from row) and slots.locked_by is null
  order by slots.queue_id, slots.slot for update skip locked
), released as materialized (
  select id from row where (select pg_catalog.count(*) from free where free.queue_id = row.id)
    = (select pg_catalog.count(*) from "worker"._private_queue_slots as slots where slots.queue_id = row.id)
), removed as (
  delete from "worker"._private_queue_slots where queue_id in (select id from released)
), deleted as (
  delete from "worker"._private_rates as rates where rates.tat <= pg_catalog.now()
  and rates.limit_id in (select id from "worker"._private_limits where scope = 'queue')
  and (rates.key in (select queue_name from unused where id in (select id from released))
    or not exists (select from "worker"._private_job_queues as queues where queues.queue_name = rates.key))
), unlocked as (
  update "worker"._private_job_queues set locked_by = null, locked_at = null where id in (select id from released)
)
select pg_catalog.max(id) as last, pg_catalog.count(*)::int as count from unused
