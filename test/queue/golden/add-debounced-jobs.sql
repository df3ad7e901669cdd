  with given as materialized (
    select spec.*, nullif(job_key, ''::text) as job_key, key_rule, wait_ms, max_wait_ms
    from (
    select
      nullif(identifier, ''::text) as identifier, nullif(queue_name, ''::text) as queue_name, payload::json as payload, n,
      coalesce(nullif(run_at, 'infinity'::timestamptz), pg_catalog.now() - ($2::int - n)::float8 * interval '1 microsecond') as run_at, coalesce(nullif(max_attempts, '0'::smallint), 25) as max_attempts,
      coalesce(nullif(priority, '0'::smallint), 0) as priority, nullif(flags, ''::text)::jsonb as flags
    from rows from (pg_catalog.unnest(pg_catalog.string_to_array($1::text, E'\x1f')), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[]), pg_catalog.unnest($5::text[]::timestamptz[]), pg_catalog.unnest($6::smallint[]), pg_catalog.unnest($7::smallint[]), pg_catalog.unnest($8::text[]))
      with ordinality as batch (payload, identifier, queue_name, run_at, max_attempts, priority, flags, n)) as spec
    join unnest($9::text[], $10::text[], $14::float8[], $15::float8[])
      with ordinality as key (job_key, key_rule, wait_ms, max_wait_ms, n) using (n)
  ), existing as materialized (
    select jobs.id, jobs.is_available, jobs.key, jobs.locked_at, jobs.created_at, jobs.attempts
    from "worker"._private_jobs as jobs
    where jobs.key = any($11::text[])
    order by jobs.id
    for update
  ), given_up as (
    update "worker"._private_jobs as jobs
    set key = null, attempts = jobs.max_attempts, updated_at = pg_catalog.now()
    where jobs.id = any(array(select existing.id from existing where not existing.is_available))
    returning jobs.id
  ), 
  known_identifier as (
    select id, identifier from "worker"._private_tasks where identifier = any($12::text[])
  ), new_identifier as (
    insert into "worker"._private_tasks as known (identifier)
    select name from pg_catalog.unnest($12::text[]) as named (name)
    where name not in (select identifier from known_identifier)
    order by name
    on conflict (identifier) do update set identifier = known.identifier
    returning id, identifier
  ), all_identifier as (
    select * from known_identifier union all select * from new_identifier
  ), 
  known_queue_name as (
    select id, queue_name from "worker"._private_job_queues where queue_name = any($13::text[])
  ), new_queue_name as (
    insert into "worker"._private_job_queues as known (queue_name)
    select name from pg_catalog.unnest($13::text[]) as named (name)
    where name not in (select queue_name from known_queue_name)
    order by name
    on conflict (queue_name) do update set queue_name = known.queue_name
    returning id, queue_name
  ), all_queue_name as (
    select * from known_queue_name union all select * from new_queue_name
  ),
  debounce as (
    insert into "worker"._private_jobs as jobs
      (job_queue_id, task_id, payload, run_at, max_attempts, key, priority, flags)
    select
      all_queue_name.id, all_identifier.id, payload, least(
        pg_catalog.now() + wait_ms * interval '1 millisecond',
        coalesce(case when existing.attempts = 0::smallint then existing.created_at end, pg_catalog.now())
          + max_wait_ms * interval '1 millisecond'
      ), max_attempts,
      job_key, priority, flags
    from given
    join all_identifier using (identifier)
    left join all_queue_name using (queue_name)
    left join existing on existing.key = job_key and existing.is_available
    cross join (select pg_catalog.count(*) from given_up) as after
    where key_rule = 'debounce'
    order by job_key, n
    on conflict (key) do update set 
      job_queue_id = excluded.job_queue_id,
      task_id = excluded.task_id,
      payload = case
        when pg_catalog.json_typeof(jobs.payload) = 'array' and pg_catalog.json_typeof(excluded.payload) = 'array'
          then (jobs.payload::jsonb || excluded.payload::jsonb)::json
        else excluded.payload
      end,
      max_attempts = excluded.max_attempts,
      run_at = excluded.run_at,
      priority = excluded.priority,
      revision = jobs.revision + 1,
      flags = excluded.flags, created_at = case when jobs.attempts = 0::smallint then jobs.created_at else pg_catalog.now() end,
      attempts = 0,
      last_error = null,
      updated_at = pg_catalog.now()
    where jobs.locked_at is null
    returning jobs.*
  ),
  jobs as (
    select *, false as is_kept from debounce
  ), announced as materialized (
    select pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), pg_catalog.count(*))) from jobs where not is_kept having pg_catalog.count(*) > 0
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
  end as state
  from jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  left join announced on true
  where case
    when $2::int = 1 or (select pg_catalog.count(*) from jobs) = $2::int then '0'::text
    else 'workers took jobs of these keys at the same time'::text
  end::int = 0
  order by jobs.id
