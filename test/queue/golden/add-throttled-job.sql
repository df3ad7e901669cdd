  with given as materialized (
    select spec.*, throttle_key, period_ms
    from (
    select
      nullif(identifier, ''::text) as identifier, nullif(queue_name, ''::text) as queue_name, payload::json as payload, n,
      coalesce(nullif(run_at, 'infinity'::timestamptz), pg_catalog.now() - ($2::int - n)::float8 * interval '1 microsecond') as run_at, coalesce(nullif(max_attempts, '0'::smallint), 25) as max_attempts,
      coalesce(nullif(priority, '0'::smallint), 0) as priority, nullif(flags, ''::text)::jsonb as flags
    from rows from (pg_catalog.unnest(pg_catalog.string_to_array($1::text, E'\x1f')), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[]), pg_catalog.unnest($5::text[]::timestamptz[]), pg_catalog.unnest($6::smallint[]), pg_catalog.unnest($7::smallint[]), pg_catalog.unnest($8::text[]))
      with ordinality as batch (payload, identifier, queue_name, run_at, max_attempts, priority, flags, n)) as spec
    join unnest($9::text[], $10::float8[]) with ordinality as throttle (throttle_key, period_ms, n) using (n)
  ), wanted as materialized (
    select distinct on (throttle_key) throttle_key, period_ms, n
    from given where throttle_key <> ''::text
    order by throttle_key, n
  ), taken as (
    insert into "worker"._private_throttles as throttles (key, until)
    select throttle_key, pg_catalog.statement_timestamp() + period_ms * interval '1 millisecond'
    from wanted
    order by throttle_key
    on conflict (key) do update set until = excluded.until
    where throttles.until <= pg_catalog.statement_timestamp()
    returning key, until
  ), passed as materialized (
    select given.*, taken.until, pg_catalog.row_number() over (order by given.n) as turn
    from given
    left join wanted using (n)
    left join taken on taken.key = wanted.throttle_key
    where given.throttle_key = ''::text or taken.key is not null
  ), 
  known_identifier as (
    select id, identifier from "worker"._private_tasks where identifier = any($11::text[])
  ), new_identifier as (
    insert into "worker"._private_tasks as known (identifier)
    select name from pg_catalog.unnest($11::text[]) as named (name)
    where name not in (select identifier from known_identifier)
    order by name
    on conflict (identifier) do update set identifier = known.identifier
    returning id, identifier
  ), all_identifier as (
    select * from known_identifier union all select * from new_identifier
  ), 
  known_queue_name as (
    select id, queue_name from "worker"._private_job_queues where queue_name = any($12::text[])
  ), new_queue_name as (
    insert into "worker"._private_job_queues as known (queue_name)
    select name from pg_catalog.unnest($12::text[]) as named (name)
    where name not in (select queue_name from known_queue_name)
    order by name
    on conflict (queue_name) do update set queue_name = known.queue_name
    returning id, queue_name
  ), all_queue_name as (
    select * from known_queue_name union all select * from new_queue_name
  ),
  inserted as (
    insert into "worker"._private_jobs
      (job_queue_id, task_id, payload, run_at, max_attempts, priority, flags)
    select
      all_queue_name.id, all_identifier.id, payload, run_at, max_attempts, priority, flags
    from passed
    join all_identifier using (identifier)
    left join all_queue_name using (queue_name)
    order by n
    returning *
  ), jobs as (
    select *, pg_catalog.row_number() over (order by id) as turn from inserted
  ), announced as materialized (
    select pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), pg_catalog.count(*))) from inserted having pg_catalog.count(*) > 0
  )
  select 
  jobs.id::text, jobs.task_id, tasks.identifier as task_identifier,
  jobs.job_queue_id, queues.queue_name, (jobs.payload)::text as payload, jobs.priority,
  pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric)::text as run_at_us,
  jobs.attempts, jobs.max_attempts, jobs.last_error as last_error,
  pg_catalog.floor(extract(epoch from jobs.created_at) * 1000000::numeric)::text as created_at_us,
  pg_catalog.floor(extract(epoch from jobs.updated_at) * 1000000::numeric)::text as updated_at_us,
  jobs.key, pg_catalog.floor(extract(epoch from jobs.locked_at) * 1000000::numeric)::text as locked_at_us, jobs.locked_by as locked_by,
  jobs.revision, (jobs.flags)::text as flags, jobs.is_available,
  case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as state,
    (passed.n - 1)::int as place, passed.throttle_key, pg_catalog.floor(extract(epoch from passed.until) * 1000000::numeric)::text as until_us
  from passed
  left join jobs on jobs.turn = passed.turn
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  left join announced on true
  where case
    when (select pg_catalog.count(*) from inserted) = (select pg_catalog.count(*) from passed) then '0'::text
    else 'a trigger skips rows'::text
  end::int = 0
  order by passed.n;

  with requested as materialized (
    select key, pg_catalog.statement_timestamp() + pg_catalog.max(period_ms) * interval '1 millisecond' as latest
    from unnest($1::text[], $2::float8[]) as given (key, period_ms) group by key
  ), shortened as (
    update "worker"._private_throttles as throttles set until = latest
    from requested where requested.key = throttles.key and throttles.until > latest
  )
  select key, pg_catalog.floor(extract(epoch from least(coalesce(throttles.until, pg_catalog.now()), latest)) * 1000000::numeric)::text as us
  from requested left join "worker"._private_throttles as throttles using (key)
