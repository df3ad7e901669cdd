select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  with locks as materialized (
  select locked_by, locked_at, true as is_job
  from "worker"._private_jobs
  where locked_by is not null and locked_at is not null and not is_available
  union all
  select locked_by, locked_at, false
  from "worker"._private_job_queues as queues
  where locked_by is not null and queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false)
  union all
  select locked_by, locked_at, false
  from "worker"._private_queue_slots
  where locked_by is not null
  ), found as (
    select id, case when ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when workers.metadata ? 'recovered_at'::text
      then case when pg_catalog.jsonb_typeof(workers.metadata -> 'resilient_threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'resilient_threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'resilient_threshold_ms'::text)::float8, $1::float8)
      else coalesce($1::float8, 300000) end
      else case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, $1::float8)
      else coalesce($1::float8, 300000) end end
    and 'infinity'::float8 >= case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, $1::float8)
      else coalesce($1::float8, 300000) end then 'stale' else 'spared' end as kind
    from "worker"._private_workers as workers
    where ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > $1::float8
    union all 
  select locked_by as id, 'unknown' as kind
  from locks
  where not exists (
    select from "worker"._private_workers as workers where workers.id = locks.locked_by
  )
  group by locked_by
  having pg_catalog.max(locked_at) < pg_catalog.now() - $1::float8 * interval '1 millisecond'
  )
  select
    found.id as worker_id, found.kind,
    pg_catalog.count(*) filter (where locks.is_job)::text as locked_jobs,
    pg_catalog.count(*) filter (where not locks.is_job)::text as locked_queues
  from found
  left join locks on locks.locked_by = found.id
  group by found.id, found.kind
  order by found.kind = 'spared', found.id
  limit 1000;

with stale_row as materialized (
  select workers.id, ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'resilient_threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'resilient_threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'resilient_threshold_ms'::text)::float8, $1::float8)
      else coalesce($1::float8, 300000) end as is_final, nullif(requested.message, ''::text) as message,
    coalesce(workers.metadata ? 'recovered_at'::text, false) as is_marked
  from "worker"._private_workers as workers
  join unnest($3::text[], $4::text[]) as requested (id, message) on requested.id = workers.id
  where ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when workers.metadata ? 'recovered_at'::text
      then case when pg_catalog.jsonb_typeof(workers.metadata -> 'resilient_threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'resilient_threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'resilient_threshold_ms'::text)::float8, $1::float8)
      else coalesce($1::float8, 300000) end
      else case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, $1::float8)
      else coalesce($1::float8, 300000) end end
    and $5::float8 >= case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, $1::float8)
      else coalesce($1::float8, 300000) end
  and pg_catalog.abs(extract(epoch from pg_catalog.now())::float8 * 1000::float8 - $6::float8) < $7::float8
  order by workers.id
), stale as materialized (
  select id, is_final, message, is_marked, true as has_row from stale_row
  union all
  select unknown.id, true as is_final, null::text as message, false as is_marked,
    false as has_row
  from pg_catalog.unnest($2::text[]) as unknown (id) where true
  and not exists (select from "worker"._private_workers as workers where workers.id = unknown.id)
), locked_jobs as materialized (
  select jobs.id, jobs.job_queue_id, jobs.locked_by, jobs.locked_at,
    stale.is_final or not coalesce(jobs.flags ? 'infrastructure_resilient'::text, false) as is_due
  from "worker"._private_jobs as jobs join stale on stale.id = jobs.locked_by
  where not jobs.is_available and jobs.locked_at is not null and (stale.has_row or jobs.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond')
), locked_queue as materialized (
  select queues.id, queues.locked_by from "worker"._private_job_queues as queues
  join stale on stale.id = queues.locked_by
  where (stale.has_row or queues.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond') and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) and not exists (
    select from locked_jobs where locked_jobs.job_queue_id = queues.id and not locked_jobs.is_due
  )
), locked_slot as materialized (
  select slots.queue_id, slots.slot, slots.locked_by from "worker"._private_queue_slots as slots
  join stale on stale.id = slots.locked_by
  where (stale.has_row or slots.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond') and not exists (select from locked_jobs where locked_jobs.job_queue_id = slots.queue_id
    and locked_jobs.locked_by = slots.locked_by and not locked_jobs.is_due)
)
select (select pg_catalog.count(*)::int from locked_jobs where is_due) as jobs,
  (select pg_catalog.count(*)::int from locked_queue) + (select pg_catalog.count(*)::int from locked_slot) as queues, '[]' as workers
