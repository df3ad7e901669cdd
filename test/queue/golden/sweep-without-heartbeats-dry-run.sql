select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  with locks as materialized (
  select locked_by, locked_at, true as is_job
  from "worker"._private_jobs
  where locked_by is not null and locked_at is not null and not is_available
  union all
  select locked_by, locked_at, false
  from "worker"._private_job_queues as queues
  where locked_by is not null and queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false)
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

with stale as materialized (
  select unknown.id, true as is_final, null::text as message, false as is_marked,
    false as has_row
  from pg_catalog.unnest($2::text[]) as unknown (id) where true
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
)
select (select pg_catalog.count(*)::int from locked_jobs where is_due) as jobs,
  (select pg_catalog.count(*)::int from locked_queue) as queues, '[]' as workers
