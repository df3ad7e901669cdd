  with 
  known_identifier as (
    select id, identifier from "worker"._private_tasks where identifier = any($9::text[])
  ), new_identifier as (
    insert into "worker"._private_tasks as known (identifier)
    select name from pg_catalog.unnest($9::text[]) as named (name)
    where name not in (select identifier from known_identifier)
    order by name
    on conflict (identifier) do update set identifier = known.identifier
    returning id, identifier
  ), all_identifier as (
    select * from known_identifier union all select * from new_identifier
  ),
  known_queue_name as (
    select id, queue_name from "worker"._private_job_queues where queue_name = any($10::text[])
  ), new_queue_name as (
    insert into "worker"._private_job_queues as known (queue_name)
    select name from pg_catalog.unnest($10::text[]) as named (name)
    where name not in (select queue_name from known_queue_name)
    order by name
    on conflict (queue_name) do update set queue_name = known.queue_name
    returning id, queue_name
  ), all_queue_name as (
    select * from known_queue_name union all select * from new_queue_name
  ),
  jobs as (
    insert into "worker"._private_jobs
      (job_queue_id, task_id, payload, run_at, max_attempts, priority, flags)
    select
      all_queue_name.id,
      all_identifier.id,
      payload, run_at, max_attempts, priority, flags
    from (
    select
      nullif(identifier, ''::text) as identifier, nullif(queue_name, ''::text) as queue_name, payload::json as payload, n,
      coalesce(nullif(run_at, 'infinity'::timestamptz), pg_catalog.now() - ($2::int - n)::float8 * interval '1 microsecond') as run_at, coalesce(nullif(max_attempts, '0'::smallint), 25) as max_attempts,
      coalesce(nullif(priority, '0'::smallint), 0) as priority, nullif(flags, ''::text)::jsonb as flags
    from rows from (pg_catalog.unnest(pg_catalog.string_to_array($1::text, E'\x1f')), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[]), pg_catalog.unnest($5::text[]::timestamptz[]), pg_catalog.unnest($6::smallint[]), pg_catalog.unnest($7::smallint[]), pg_catalog.unnest($8::text[]))
      with ordinality as batch (payload, identifier, queue_name, run_at, max_attempts, priority, flags, n)) as given
    join all_identifier using (identifier)
    left join all_queue_name using (queue_name)
    order by n
    returning id, run_at, flags
  ), notified as materialized (
    select pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), $2::int))
  )
  select
    pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as now_us,
    pg_catalog.array_agg(added.id)::text as ids,
    pg_catalog.json_agg(pg_catalog.floor(extract(epoch from added.run_at) * 1000000::numeric)::bigint)::text as run_ats_us,
    pg_catalog.json_agg(added.flags::text)::text as flags,
    (select pg_catalog.json_agg(pg_catalog.json_build_array(identifier, id)) from all_identifier)::text as tasks,
    (select pg_catalog.json_agg(pg_catalog.json_build_array(queue_name, id)) from all_queue_name)::text
      as queues,
    exists (
      select from pg_catalog.pg_trigger where tgrelid = $11::text::regclass::oid
      and tgtype & 7::int2 = 7::int2 and tgenabled <> 'D') as may_differ
  from (select id, run_at, flags from jobs order by id) as added
  cross join notified
  having case when pg_catalog.count(*) = $2::int then '0'::text else 'a trigger skips rows'::text end::int = 0
