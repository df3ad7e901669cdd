select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with is_needed as materialized (
  select 1 from "worker"._private_jobs
  where ($2::bigint[] is null or id = any($2::bigint[])) and locked_by = $1::text and locked_at < pg_catalog.now() - $3::float8 * interval '1 millisecond' limit 1
), job as materialized (
  select id from "worker"._private_jobs
  where exists (select from is_needed) and not is_available and locked_by = $1::text and locked_at < pg_catalog.now() - $3::float8 * interval '1 millisecond'
  order by id for update skip locked
), renewed as (
  update "worker"._private_jobs set locked_by = $1::text, locked_at = pg_catalog.now()
  where id = any(array(select id from job))
  returning 1
), queue as materialized (
  select id from "worker"._private_job_queues
  where exists (select from is_needed) and locked_by = $1::text and locked_at < pg_catalog.now() - $3::float8 * interval '1 millisecond'
  order by id for update skip locked
), renewed_queue as (
  update "worker"._private_job_queues set locked_by = $1::text, locked_at = pg_catalog.now()
  where id = any(array(select id from queue))
  returning 1
), slot as materialized (
  select queue_id, slot from "worker"._private_queue_slots
  where exists (select from is_needed) and locked_by = $1::text and locked_at < pg_catalog.now() - $3::float8 * interval '1 millisecond'
  order by queue_id, slot for update skip locked
), renewed_slot as (
  update "worker"._private_queue_slots as slots set locked_by = $1::text, locked_at = pg_catalog.now()
  where (slots.queue_id, slots.slot) in (select slot.queue_id, slot.slot from slot)
)
select (select pg_catalog.count(*)::int from renewed) as jobs,
  (select pg_catalog.count(*)::int from renewed_queue) as queues
