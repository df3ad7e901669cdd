select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with stale as materialized (
  select jobs.id from "worker"._private_jobs as jobs
  where jobs.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond' and not exists (select from "worker"._private_workers as workers where workers.id = jobs.locked_by) and not jobs.is_available
  and ($3::bigint[] is null or jobs.id = any($3::bigint[])) and jobs.id <> all($4::bigint[])
  order by jobs.id for update of jobs skip locked
), recovered as (
  update "worker"._private_jobs as jobs
  set locked_by = null, locked_at = null, updated_at = pg_catalog.now(), last_error = (
      select case when earlier.count is null then given.message
        else pg_catalog.format('Recovered %s times in a row: %s', earlier.count + 1,
          pg_catalog.regexp_replace(given.message, '^Recovered: ', '')) end
      from (select pg_catalog.format('Recovered: worker %s held attempt %s for more than %s',
      jobs.locked_by, jobs.attempts, $2::text) as message) as given, lateral (
        select case
          when jobs.last_error ~ '^Recovered [0-9]{1,5} times in a row: '
            then pg_catalog.substring(jobs.last_error, '^Recovered ([0-9]+)')::int
          when jobs.last_error like 'Recovered: %' or jobs.last_error = given.message then 1
        end as count
      ) as earlier
    ),
    run_at = greatest(run_at, pg_catalog.now())
  where id = any(array(select id from stale))
  returning 1
), stale_queue as materialized (
  select queues.id from "worker"._private_job_queues as queues
  where $3::bigint[] is null and queues.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond' and not exists (select from "worker"._private_workers as workers where workers.id = queues.locked_by) and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false)
  order by queues.id for update of queues skip locked
), unlocked_queue as (
  update "worker"._private_job_queues set locked_by = null, locked_at = null
  where id = any(array(select id from stale_queue))
  returning 1
), stale_slot as materialized (
  select slots.queue_id, slots.slot from "worker"._private_queue_slots as slots
  where $3::bigint[] is null and slots.locked_at < pg_catalog.now() - $1::float8 * interval '1 millisecond' and not exists (select from "worker"._private_workers as workers where workers.id = slots.locked_by) and not exists (
    select from "worker"._private_jobs as jobs where jobs.job_queue_id = slots.queue_id
    and jobs.locked_by = slots.locked_by and not jobs.is_available and jobs.locked_at is not null and jobs.id not in (select id from stale))
  order by slots.queue_id, slots.slot for update of slots skip locked
), unlocked_slot as (
  update "worker"._private_queue_slots as slots set locked_by = null, locked_at = null where (slots.queue_id, slots.slot) in (select stale_slot.queue_id, stale_slot.slot from stale_slot)
  returning 1
), total as (
  select (select pg_catalog.count(*)::int from recovered) as jobs,
    (select pg_catalog.count(*)::int from unlocked_queue) + (select pg_catalog.count(*)::int from unlocked_slot) as queues
)
select total.jobs, total.queues,
  case when total.jobs + total.queues > 0 then pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), greatest(total.jobs, 1))) end
from total
