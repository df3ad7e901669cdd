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
  select locked_by as id, 'unknown' as kind
  from locks
  
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
  select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($3::text, 0))::text is not null as is_ours
), stale as materialized (
  select unknown.id, true as is_final, null::text as message, false as is_marked,
    false as has_row
  from pg_catalog.unnest($2::text[]) as unknown (id) where (select is_ours from turn)
), locked_jobs as materialized (
  select jobs.id, jobs.job_queue_id, jobs.locked_by, jobs.locked_at,
    stale.is_final or not coalesce(jobs.flags ? 'infrastructure_resilient'::text, false) as is_due
  from "worker"._private_jobs as jobs join stale on stale.id = jobs.locked_by
  where not jobs.is_available and jobs.locked_at is not null and (stale.has_row or jobs.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond')
  and ($6::bigint[] is null or jobs.id = any($6::bigint[]))
), locked_queue as materialized (
  select queues.id, queues.locked_by from "worker"._private_job_queues as queues
  join stale on stale.id = queues.locked_by
  where $6::bigint[] is null and (stale.has_row or queues.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond') and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) and not exists (
    select from locked_jobs where locked_jobs.job_queue_id = queues.id and not locked_jobs.is_due
  )
), locked_slot as materialized (
  select slots.queue_id, slots.slot, slots.locked_by from "worker"._private_queue_slots as slots
  join stale on stale.id = slots.locked_by
  where $6::bigint[] is null and (stale.has_row or slots.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond') and not exists (select from locked_jobs where locked_jobs.job_queue_id = slots.queue_id
    and locked_jobs.locked_by = slots.locked_by and not locked_jobs.is_due)
), due as materialized (
  select id from "worker"._private_jobs
  where id = any(array(select id from locked_jobs where is_due))
  and id <> all($5::bigint[])
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
    run_at = case when jobs.job_queue_id is null or $4::float8 > 0::float8
      then greatest(jobs.run_at, pg_catalog.now() + $4::float8 * interval '1 millisecond')
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
),
ended as materialized (select false as has_ended where false
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
