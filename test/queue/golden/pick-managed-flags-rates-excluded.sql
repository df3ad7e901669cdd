with recursive level (priority) as (
  select '-32768'::smallint
  union all
  select (select j.priority from "worker"._private_jobs j
    where j.is_available  and j.priority > level.priority
    order by j.priority limit 1)
  from level where level.priority is not null
), slow_queue as materialized (
  select q.id, (case when ((extract(epoch from r.tat)::float8 - extract(epoch from pg_catalog.now())::float8) * 1000::float8) > l.burst::float8 * (l.period_ms::float8 / l.rate::float8) + 60000::float8
    then (greatest(1::float8,
    l.burst::float8 - least(100::float8, l.burst::float8 * (l.period_ms::float8 / l.rate::float8) / 4::float8) / (l.period_ms::float8 / l.rate::float8)) - 1::float8) * (l.period_ms::float8 / l.rate::float8) else greatest(0::float8, ((extract(epoch from r.tat)::float8 - extract(epoch from pg_catalog.now())::float8) * 1000::float8)) end) - (greatest(1::float8,
    l.burst::float8 - least(100::float8, l.burst::float8 * (l.period_ms::float8 / l.rate::float8) / 4::float8) / (l.period_ms::float8 / l.rate::float8)) - 1::float8) * (l.period_ms::float8 / l.rate::float8) as next_ms
  from "worker"._private_rates r join "worker"._private_limits l on l.id = r.limit_id and l.scope = 'queue' and l.rate is not null
  join "worker"._private_job_queues q on q.queue_name = r.key
  where r.tat > pg_catalog.now() and (case when ((extract(epoch from r.tat)::float8 - extract(epoch from pg_catalog.now())::float8) * 1000::float8) > l.burst::float8 * (l.period_ms::float8 / l.rate::float8) + 60000::float8
    then (greatest(1::float8,
    l.burst::float8 - least(100::float8, l.burst::float8 * (l.period_ms::float8 / l.rate::float8) / 4::float8) / (l.period_ms::float8 / l.rate::float8)) - 1::float8) * (l.period_ms::float8 / l.rate::float8) else greatest(0::float8, ((extract(epoch from r.tat)::float8 - extract(epoch from pg_catalog.now())::float8) * 1000::float8)) end) > (greatest(1::float8,
    l.burst::float8 - least(100::float8, l.burst::float8 * (l.period_ms::float8 / l.rate::float8) / 4::float8) / (l.period_ms::float8 / l.rate::float8)) - 1::float8) * (l.period_ms::float8 / l.rate::float8)
  union all
  select q.id, ((extract(epoch from b.until)::float8 - extract(epoch from pg_catalog.now())::float8) * 1000::float8)
  from "worker"._private_back_offs b join "worker"._private_limits l on l.name = b.name and l.scope = 'queue'
  join "worker"._private_job_queues q on q.queue_name like pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(l.match, E'\\', E'\\\\'), E'%', E'\\%'), E'_', E'\\_'), E'*', E'%')
  where b.scope = 'limit' and b.until > pg_catalog.now()
), full_queue as materialized (
  select distinct busy.queue_id as id from "worker"._private_queue_slots busy where busy.locked_by is not null
  and not exists (select from "worker"._private_queue_slots one where one.queue_id = busy.queue_id and one.locked_by is null)
  union all
  select q.id from "worker"._private_pauses p join "worker"._private_job_queues q on q.queue_name = p.name
  where p.scope = 'queue' and coalesce(pg_catalog.left(q.locked_by, 8) like 'paused:%', false)
  union all select id from slow_queue
), candidate as materialized (
  select c.* from level cross join lateral (
    select j.ctid, j.id, j.job_queue_id, j.task_id, j.priority, j.run_at from "worker"._private_jobs j
    where j.is_available and j.run_at <= pg_catalog.now() and j.job_queue_id is not null and j.priority = level.priority
      and (j.job_queue_id in (select id from full_queue)) is not true and j.task_id = any(array(
    select t.id from "worker"._private_tasks t where t.identifier = any($1::text[]) and not exists (
      select from "worker"._private_pauses p
      where (p.scope = 'all' or p.scope = 'task' and p.name = t.identifier)
      and (p.resume_at is null or p.resume_at > pg_catalog.now()))))
      and (select q.locked_by like 'managed:%' and q.locked_by <> 'managed:0' from "worker"._private_job_queues q where q.id = j.job_queue_id)
      and (j.flags is null or not j.flags ?| $5::text[]) and j.id <> all($6::bigint[]) and (-j.job_queue_id::bigint = any($6::bigint[])) is not true
    order by j.run_at limit 1000) c
  where level.priority is not null limit 1000
), queue_jobs as materialized (
  select job_queue_id as id, pg_catalog.count(*) as jobs from candidate group by job_queue_id
), free_slot as materialized (
  select queue_jobs.id as queue_id, free.slot, free.served_at, free.nth
  from queue_jobs cross join lateral (
    select slots.slot, slots.served_at, pg_catalog.row_number() over (order by slots.slot) as nth
    from (select slot, served_at from "worker"._private_queue_slots where queue_id = queue_jobs.id and locked_by is null
      order by slot limit least(queue_jobs.jobs, 4 * $2::int)) as slots offset 0) as free
  order by free.nth, free.served_at, queue_jobs.id limit 4 * $2::int
), slot_lock as materialized (
  select slots.queue_id, slots.slot from "worker"._private_queue_slots as slots
  join free_slot on free_slot.queue_id = slots.queue_id and free_slot.slot = slots.slot
  where slots.locked_by is null
  order by free_slot.nth, slots.served_at, slots.queue_id limit $2::int for update of slots skip locked
), open_queue as materialized (
  select queue_id as id, pg_catalog.count(*) as runs, pg_catalog.array_agg(slot order by slot) as free, (
      select coalesce(nullif(pg_catalog.substring(q.locked_by, '^managed:([0-9]{1,9})$')::int, 0), 1) from "worker"._private_job_queues q where q.id = slot_lock.queue_id) as slots
  from slot_lock group by queue_id
), rate_lock as materialized (
  select r.limit_id, r.key, r.tat from "worker"._private_rates r
  where r.key in (select q.queue_name from "worker"._private_job_queues q where q.id in (select id from open_queue))
    and r.limit_id in (select l.id from "worker"._private_limits l where l.scope = 'queue' and l.rate is not null)
  order by r.limit_id, r.key for update of r
), tokens as materialized (
  select q.id as queue_id, r.limit_id, r.key, (l.period_ms::float8 / l.rate::float8) as token_ms, (greatest(1::float8,
    l.burst::float8 - least(100::float8, l.burst::float8 * (l.period_ms::float8 / l.rate::float8) / 4::float8) / (l.period_ms::float8 / l.rate::float8)) - 1::float8) * (l.period_ms::float8 / l.rate::float8) as most_ms,
    case when r.tat is null then 0 else greatest(0::float8, pg_catalog.floor(greatest(1::float8,
    l.burst::float8 - least(100::float8, l.burst::float8 * (l.period_ms::float8 / l.rate::float8) / 4::float8) / (l.period_ms::float8 / l.rate::float8)) - (case when ((extract(epoch from r.tat)::float8 - extract(epoch from pg_catalog.now())::float8) * 1000::float8) > l.burst::float8 * (l.period_ms::float8 / l.rate::float8) + 60000::float8
    then (greatest(1::float8,
    l.burst::float8 - least(100::float8, l.burst::float8 * (l.period_ms::float8 / l.rate::float8) / 4::float8) / (l.period_ms::float8 / l.rate::float8)) - 1::float8) * (l.period_ms::float8 / l.rate::float8) else greatest(0::float8, ((extract(epoch from r.tat)::float8 - extract(epoch from pg_catalog.now())::float8) * 1000::float8)) end) / (l.period_ms::float8 / l.rate::float8) + 1e-6::float8)) end::bigint as count
  from "worker"._private_job_queues q join "worker"._private_limits l
    on l.scope = 'queue' and l.rate is not null and q.queue_name like pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(l.match, E'\\', E'\\\\'), E'%', E'\\%'), E'_', E'\\_'), E'*', E'%')
  left join rate_lock r on r.limit_id = l.id and r.key = q.queue_name
  where q.id in (select id from open_queue)
), ranked as materialized (
  select c.ctid, c.job_queue_id, pg_catalog.row_number() over in_order as place,
    pg_catalog.sum(coalesce(speed.share, 'infinity')) over in_order as part
  from candidate c left join (
    select t.id, ($4::float8[])[pg_catalog.array_position($1::text[], t.identifier)] as share
    from "worker"._private_tasks t where t.identifier = any($1::text[])
  ) speed on speed.id = c.task_id
  where c.job_queue_id in (select id from open_queue)
  window in_order as (partition by c.job_queue_id order by c.priority, c.run_at, c.id rows unbounded preceding)
), run_size as materialized (
  select open_queue.id, open_queue.slots, pg_catalog.array_agg(ranked.ctid) as ctids, least(pg_catalog.count(*) filter (
      where ranked.place <= open_queue.runs or ranked.part <= open_queue.runs::float8
        and ranked.place <= open_queue.runs * greatest(1, 50 / open_queue.slots)),
      coalesce((select pg_catalog.min(tokens.count) from tokens where tokens.queue_id = open_queue.id), 2147483647)) as jobs
  from open_queue join ranked on ranked.job_queue_id = open_queue.id
  group by open_queue.id, open_queue.runs, open_queue.slots
), locked as materialized (
  select run.*, run_size.slots from run_size cross join lateral (
    select j.ctid, j.id, j.job_queue_id, j.priority, j.run_at from "worker"._private_jobs j
    where j.ctid = any(run_size.ctids) and j.is_available and j.run_at <= pg_catalog.now()
    order by j.priority, j.run_at, j.id limit run_size.jobs for update skip locked) run
), left_out as materialized (
  select c.job_queue_id, c.priority, c.run_at, c.id from candidate c
  where c.job_queue_id in (select id from run_size where slots = 1) and c.ctid not in (select ctid from locked)
), picked as materialized (
  select run.ctid, run.job_queue_id, pg_catalog.row_number() over (partition by run.job_queue_id
    order by run.priority, run.run_at, run.id) as place
  from locked run where not exists (select from left_out where left_out.job_queue_id = run.job_queue_id
    and (left_out.priority, left_out.run_at, left_out.id) < (run.priority, run.run_at, run.id))
)
select j.id::text, (-j.job_queue_id)::text as queue from "worker"._private_jobs j join picked on j.ctid = picked.ctid
where $3::text is not null order by picked.place
