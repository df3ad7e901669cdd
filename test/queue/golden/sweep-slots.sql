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

with turn as materialized (
  select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($8::text, 0))::text is not null as is_ours
), stale_row as materialized (
  select workers.id, ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'resilient_threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'resilient_threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'resilient_threshold_ms'::text)::float8, $1::float8)
      else coalesce($1::float8, 300000) end as is_final, nullif(requested.message, ''::text) as message,
    coalesce(workers.metadata ? 'recovered_at'::text, false) as is_marked
  from "worker"._private_workers as workers
  join unnest($3::text[], $4::text[]) as requested (id, message) on requested.id = workers.id
  where (select is_ours from turn) and ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when workers.metadata ? 'recovered_at'::text
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
  order by workers.id for update of workers skip locked
), stale as materialized (
  select id, is_final, message, is_marked, true as has_row from stale_row
  union all
  select unknown.id, true as is_final, null::text as message, false as is_marked,
    false as has_row
  from pg_catalog.unnest($2::text[]) as unknown (id) where (select is_ours from turn)
  and not exists (select from "worker"._private_workers as workers where workers.id = unknown.id)
), locked_jobs as materialized (
  select jobs.id, jobs.job_queue_id, jobs.locked_by, jobs.locked_at,
    stale.is_final or not coalesce(jobs.flags ? 'infrastructure_resilient'::text, false) as is_due
  from "worker"._private_jobs as jobs join stale on stale.id = jobs.locked_by
  where not jobs.is_available and jobs.locked_at is not null and (stale.has_row or jobs.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond')
  and ($11::bigint[] is null or jobs.id = any($11::bigint[]))
), locked_queue as materialized (
  select queues.id, queues.locked_by from "worker"._private_job_queues as queues
  join stale on stale.id = queues.locked_by
  where $11::bigint[] is null and (stale.has_row or queues.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond') and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) and not exists (
    select from locked_jobs where locked_jobs.job_queue_id = queues.id and not locked_jobs.is_due
  )
), locked_slot as materialized (
  select slots.queue_id, slots.slot, slots.locked_by from "worker"._private_queue_slots as slots
  join stale on stale.id = slots.locked_by
  where $11::bigint[] is null and (stale.has_row or slots.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond') and not exists (select from locked_jobs where locked_jobs.job_queue_id = slots.queue_id
    and locked_jobs.locked_by = slots.locked_by and not locked_jobs.is_due)
), due as materialized (
  select id from "worker"._private_jobs
  where id = any(array(select id from locked_jobs where is_due))
  and id <> all($10::bigint[])
  and locked_by = any(array(select id from stale))
  order by id for update skip locked
), recovered as (
  update "worker"._private_jobs as jobs
  set locked_by = null, locked_at = null, updated_at = pg_catalog.now(), last_error = (
      select case when earlier.count is null then given.message
        else pg_catalog.format('Recovered %s times in a row: %s', earlier.count + 1,
          pg_catalog.regexp_replace(given.message, '^Recovered: ', '')) end
      from (select coalesce(stale.message, pg_catalog.format(
      case when stale.has_row then 'Recovered: worker %1$s stopped without finishing attempt %2$s'
        else 'Recovered: attempt %2$s was locked since %3$s by %1$s, which sends no heartbeat' end,
      jobs.locked_by, jobs.attempts, pg_catalog.to_char(jobs.locked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))) as message) as given, lateral (
        select case
          when jobs.last_error ~ '^Recovered [0-9]{1,5} times in a row: '
            then pg_catalog.substring(jobs.last_error, '^Recovered ([0-9]+)')::int
          when jobs.last_error like 'Recovered: %' or jobs.last_error = given.message then 1
        end as count
      ) as earlier
    ),
    run_at = case when jobs.job_queue_id is null or $9::float8 > 0::float8
      then greatest(jobs.run_at, pg_catalog.now() + $9::float8 * interval '1 millisecond')
      else jobs.run_at end
  from due, stale where jobs.id = due.id and stale.id = jobs.locked_by
  returning 1
), queue as materialized (
  select id from "worker"._private_job_queues as queues
  where id = any(array(select id from locked_queue))
  and locked_by = any(array(select id from stale))
  and not exists (
    select from locked_jobs where locked_jobs.job_queue_id = queues.id and locked_jobs.id not in (select id from due)
  )
  order by id for update skip locked
), unlocked_queue as (
  update "worker"._private_job_queues set locked_by = null, locked_at = null
  where id = any(array(select id from queue))
  returning 1
), slot as materialized (
  select slots.queue_id, slots.slot from "worker"._private_queue_slots as slots
  where (slots.queue_id, slots.slot) in (select locked_slot.queue_id, locked_slot.slot from locked_slot)
  and slots.locked_by = any(array(select id from stale))
  and not exists (select from locked_jobs where locked_jobs.job_queue_id = slots.queue_id and locked_jobs.locked_by = slots.locked_by
    and locked_jobs.id not in (select id from due))
  order by slots.queue_id, slots.slot for update skip locked
), unlocked_slot as (
  update "worker"._private_queue_slots as slots set locked_by = null, locked_at = null where (slots.queue_id, slots.slot) in (select slot.queue_id, slot.slot from slot)
  returning 1
), unfinished as materialized (
  select locked_by from locked_jobs where is_due and id not in (select id from due)
  union select id from stale_row where $11::bigint[] is not null
  union select locked_by from locked_queue where id not in (select id from queue)
  union select locked_by from locked_slot where not exists (
    select from slot where slot.queue_id = locked_slot.queue_id and slot.slot = locked_slot.slot)
), marked as (
  update "worker"._private_workers as workers
  set metadata = case when pg_catalog.jsonb_typeof(metadata) = 'object'
      and pg_catalog.octet_length(metadata::text) <= 261888::int
      then metadata else '{}' end
    || pg_catalog.jsonb_build_object('recovered_at', pg_catalog.now(), 'recovered_jobs',
      (select pg_catalog.count(*) from locked_jobs where locked_jobs.locked_by = workers.id and locked_jobs.is_due))
  from stale_row where workers.id = stale_row.id and not stale_row.is_final
  and stale_row.id not in (select locked_by from unfinished)
), deleted as (
  delete from "worker"._private_workers as workers using stale_row
  where workers.id = stale_row.id and stale_row.is_final
  and stale_row.id not in (select locked_by from unfinished)
), withdrawn as (
  delete from "worker"._private_limit_permits as permits using stale_row
  where permits.worker_id = stale_row.id
  and stale_row.id not in (select locked_by from unfinished)
  and not exists (select from locked_jobs where locked_jobs.locked_by = stale_row.id and not locked_jobs.is_due)
),
ended as materialized (
  select pg_catalog.pg_terminate_backend(activity.pid, 1000) as has_ended
  from stale_row
  join pg_catalog.pg_locks as locks on locks.locktype = 'advisory' and locks.objsubid = 1
    and ((locks.classid::bigint << 32) | locks.objid::bigint) = pg_catalog.hashtextextended('worker session ' || stale_row.id, 0)
  join pg_catalog.pg_stat_activity as activity on activity.pid = locks.pid
  where locks.database = (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database())
  and activity.usename = current_user and activity.state = 'idle in transaction'
), total as (
  select (select pg_catalog.count(*)::int from recovered) as jobs, (select pg_catalog.count(*)::int from unlocked_queue) + (select pg_catalog.count(*)::int from unlocked_slot) as queues,
    (select pg_catalog.count(*)::int from ended where has_ended) as transactions
)
select total.jobs, total.queues,
  (select coalesce(pg_catalog.json_agg(id order by id), '[]')::text from stale
    where not is_marked or id in (select locked_by from locked_jobs)) as workers,
  case when total.jobs + total.queues + total.transactions > 0 then pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), greatest(total.jobs, 1))) end
from total
where case when total.jobs = (select pg_catalog.count(*) from due) then '0'::text else 'a row was left as it is'::text end::int = 0
