with limits as materialized (
  select l.id, pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(l.match, E'\\', E'\\\\'), E'%', E'\\%'), E'_', E'\\_'), E'*', E'%') as pattern, l.concurrency, l.rate from "worker"._private_limits as l where l.scope = 'queue'
), queue as materialized (
  select queues.id, queues.xmin as version, queues.queue_name, queues.locked_by, queues.is_available, coalesce(pg_catalog.left(queues.locked_by, 8) = 'managed:', false) as is_managed,
    (select case when pg_catalog.count(*) > 0 then coalesce(pg_catalog.min(limits.concurrency), 1) end
      from limits where queues.queue_name like limits.pattern) as slots,
    case when coalesce(pg_catalog.left(queues.locked_by, 8) = 'managed:', false) then (select pg_catalog.count(*) from "worker"._private_queue_slots as one
      where one.queue_id = queues.id) else 0 end as present
  from "worker"._private_job_queues as queues
  where queues.is_available or not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) or queues.locked_by = 'managed:0' or $1::boolean and coalesce(pg_catalog.left(queues.locked_by, 8) = 'managed:', false)
), wrong as materialized (
  select id, version, slots, is_managed, pg_catalog.sum(greatest(slots, present)) over (order by is_managed, id)::bigint as work
  from queue
  where is_available and slots is not null
  or is_managed and (locked_by is distinct from 'managed:' || slots::text or slots is distinct from present)
    and (locked_by <> 'managed:0' or present <= coalesce(slots, 0)
      or exists (select from "worker"._private_queue_slots as one where one.queue_id = queue.id and one.locked_by is null))
  or is_managed and exists (
    select from limits where limits.rate is not null and queue.queue_name like limits.pattern and not exists (
      select from "worker"._private_rates as rates where rates.limit_id = limits.id and rates.key = queue.queue_name))
), seen as materialized (
  (select id, version, slots from wrong where work <= 20000::bigint order by is_managed, id limit 5000)
  union all
  (select id, version, slots from wrong where work > 20000::bigint order by is_managed, id limit 1)
), adopted as materialized (
  select queues.id, queues.queue_name, seen.slots
  from "worker"._private_job_queues as queues join seen on seen.id = queues.id
  where queues.xmin = seen.version
  order by queues.id for update of queues skip locked
), counted as materialized (
  select adopted.*, (select pg_catalog.count(*)::int from "worker"._private_queue_slots as slots
    where slots.queue_id = adopted.id) as present from adopted
), added as (
  insert into "worker"._private_queue_slots (queue_id, slot)
  select counted.id, new.slot from counted cross join lateral (
    select slot from pg_catalog.generate_series(1, counted.slots + counted.present) as number (slot)
    where not exists (
      select from "worker"._private_queue_slots as slots where slots.queue_id = counted.id and slots.slot = number.slot)
    order by slot limit greatest(0, counted.slots - counted.present)) as new
  returning queue_id
), free as materialized (
  select slots.queue_id, slots.slot from "worker"._private_queue_slots as slots join counted on counted.id = slots.queue_id
  where slots.locked_by is null and counted.present > coalesce(counted.slots, 0)
  order by slots.queue_id, slots.slot for update of slots skip locked
), removed as (
  delete from "worker"._private_queue_slots as slots using (
    select free.*, pg_catalog.row_number() over (partition by queue_id order by slot desc) as place from free
  ) as surplus, counted
  where slots.queue_id = surplus.queue_id and slots.slot = surplus.slot and counted.id = surplus.queue_id
  and surplus.place <= counted.present - coalesce(counted.slots, 0)
  returning slots.queue_id
), settled as materialized (
  select id, counted.slots, present + coalesce(more.slots, 0) - coalesce(fewer.slots, 0) as present
  from counted
  left join (select queue_id, pg_catalog.count(*) as slots from added group by queue_id) as more on more.queue_id = id
  left join (select queue_id, pg_catalog.count(*) as slots from removed group by queue_id) as fewer on fewer.queue_id = id
), written as (
  update "worker"._private_job_queues as queues set
    locked_by = case when settled.slots is null and settled.present = 0 then null
      when settled.present = settled.slots then 'managed:' || settled.slots::text else 'managed:0' end,
    locked_at = case when settled.slots is not null or settled.present > 0 then 'infinity'::timestamptz end
  from settled where queues.id = settled.id
  returning queues.id, queues.locked_by
), rated as (
  insert into "worker"._private_rates (limit_id, key, tat)
  select limits.id, adopted.queue_name, pg_catalog.now() from adopted
  join limits on limits.rate is not null and adopted.queue_name like limits.pattern
  order by limits.id, adopted.queue_name on conflict do nothing
)
select (select pg_catalog.count(*)::int from written) as changed,
  (select pg_catalog.count(*) from wrong) > (select pg_catalog.count(*) from seen)
    or exists (select id from seen except select id from adopted) as is_partial,
  exists (select from queue where slots is not null and not is_available and not is_managed)
    or exists (select from written where locked_by = 'managed:0')
    or exists (select from queue where locked_by = 'managed:0' and id not in (select id from written)) as is_blocked,
  case when exists (select from written) then pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1)) end
