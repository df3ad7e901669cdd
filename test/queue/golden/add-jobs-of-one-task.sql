  with 
  known_identifier as (
    select id, identifier from "worker"._private_tasks where identifier = any($3::text[])
  ), new_identifier as (
    insert into "worker"._private_tasks as known (identifier)
    select name from pg_catalog.unnest($3::text[]) as named (name)
    where name not in (select identifier from known_identifier)
    order by name
    on conflict (identifier) do update set identifier = known.identifier
    returning id, identifier
  ), all_identifier as (
    select * from known_identifier union all select * from new_identifier
  ),
  jobs as (
    insert into "worker"._private_jobs
      (job_queue_id, task_id, payload, run_at, max_attempts, priority, flags)
    select
      null,
      (select id from all_identifier),
      payload, run_at, max_attempts, priority, flags
    from (
    select
      payload::json as payload, n,
      pg_catalog.now() - ($2::int - n)::float8 * interval '1 microsecond' as run_at, 25 as max_attempts,
      0 as priority, null::jsonb as flags
    from rows from (pg_catalog.unnest(pg_catalog.string_to_array($1::text, E'\x1f')))
      with ordinality as batch (payload, n)) as given
    
    
    
    returning id, run_at, flags
  ), notified as materialized (
    select pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), $2::int))
  )
  select
    pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as now_us,
    pg_catalog.array_agg(added.id)::text as ids,
    null::text as run_ats_us,
    null::text as flags,
    (select pg_catalog.json_agg(pg_catalog.json_build_array(identifier, id)) from all_identifier)::text as tasks,
    null::text
      as queues,
    exists (
      select from pg_catalog.pg_trigger where tgrelid = $4::text::regclass::oid
      and tgtype & 7::int2 = 7::int2 and tgenabled <> 'D') as may_differ
  from (select id, run_at, flags from jobs order by id) as added
  cross join notified
  having case when pg_catalog.count(*) = $2::int then '0'::text else 'a trigger skips rows'::text end::int = 0
