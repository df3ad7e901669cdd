  with given as materialized (
    select
      spec.*, nullif(job_key, ''::text) as job_key, job_key_mode,
      nullif(preserves, ''::text)::boolean as preserves,
      (select pg_catalog.array_agg(flag) from pg_catalog.jsonb_object_keys(spec.flags) as flag) as flag_list
    from (
    select
      nullif(identifier, ''::text) as identifier, nullif(queue_name, ''::text) as queue_name, payload::json as payload, n,
      coalesce(nullif(run_at, 'infinity'::timestamptz), pg_catalog.now() - ($2::int - n)::float8 * interval '1 microsecond') as run_at, coalesce(nullif(max_attempts, '0'::smallint), 25) as max_attempts,
      coalesce(nullif(priority, '0'::smallint), 0) as priority, nullif(flags, ''::text)::jsonb as flags
    from rows from (pg_catalog.unnest(pg_catalog.string_to_array($1::text, E'\x1f')), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[]), pg_catalog.unnest($5::text[]::timestamptz[]), pg_catalog.unnest($6::smallint[]), pg_catalog.unnest($7::smallint[]), pg_catalog.unnest($8::text[]))
      with ordinality as batch (payload, identifier, queue_name, run_at, max_attempts, priority, flags, n)) as spec
    join unnest($9::text[], $10::text[], $11::text[])
      with ordinality as key (job_key, job_key_mode, preserves, n) using (n)
    where not exists (
    select from pg_catalog.pg_proc as own
    where own.pronamespace = E'"worker"'::pg_catalog.regnamespace::oid
    and own.proname in ('add_job', 'add_jobs') and pg_catalog.strpos(pg_catalog.replace(own.prosrc, E'"worker".', ''), '".') > 0
  )
  ), batches as (
    select
      preserves,
      pg_catalog.array_agg(
        row(
          identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flag_list
        )::"worker".job_spec
        order by job_key
      ) as specs
    from given
    where preserves is not null
    group by preserves
  ), singles as (
    select * from given where preserves is null order by n
  ), jobs as (
    select added.*, null::bigint as place
    from batches
    cross join lateral "worker".add_jobs(batches.specs, batches.preserves) as added
    union all
    select added.*, singles.n
    from singles
    cross join lateral "worker".add_job(
      identifier => singles.identifier,
      payload => singles.payload,
      queue_name => singles.queue_name,
      run_at => singles.run_at,
      max_attempts => singles.max_attempts::int,
      job_key => singles.job_key,
      priority => singles.priority::int,
      flags => singles.flag_list,
      job_key_mode => singles.job_key_mode
    ) as added
    where added.id is not null
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
  end as state, jobs.place::text
  from jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id;

  select own.proname::text as name, own.prosrc as body, pg_catalog.pg_get_functiondef(own.oid) as definition
  from pg_catalog.pg_proc as own
  join pg_catalog.pg_namespace as space on space.oid = own.pronamespace
  where space.nspname = $1::text and own.proname = any($3::text[]) and pg_catalog.strpos(pg_catalog.replace(own.prosrc, $2::text, ''), '".') > 0
  order by own.proname
