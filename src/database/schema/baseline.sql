-- Creates the objects of the queue schema as Graphile Worker 0.18 leaves them after its migrations 1 to 20
-- (test/contract/schema.test.ts compares the catalogues). The objects have the same names as in Graphile Worker,
-- such as jobs_pkey1, because a later Graphile migration may alter or drop them by name. build-schema.ts runs this
-- file. render-sql.ts explains what the comments of this file must not contain.

-- A Graphile worker that was started at the same time may already have created this table, which is then empty.
create table if not exists :schema.migrations (
  id int primary key,
  ts timestamptz not null default now()
);
alter table :schema.migrations add column if not exists breaking boolean not null default false;

create table :schema._private_tasks (
  id int generated always as identity (sequence name :schema.tasks_id_seq),
  identifier text not null,
  constraint tasks_pkey primary key (id),
  constraint tasks_identifier_key unique (identifier),
  constraint tasks_identifier_check check (length(identifier) <= 128)
);

create table :schema._private_job_queues (
  id int generated always as identity (sequence name :schema.job_queues_id_seq),
  queue_name text not null,
  locked_at timestamptz,
  locked_by text,
  is_available boolean not null generated always as (locked_at is null) stored,
  constraint job_queues_pkey1 primary key (id),
  constraint job_queues_queue_name_key unique (queue_name),
  constraint job_queues_queue_name_check check (length(queue_name) <= 128)
);

-- This table has no foreign keys to tasks and queues, because each insert would then lock rows of those tables.
create table :schema._private_jobs (
  id bigint generated always as identity (sequence name :schema.jobs_id_seq1),
  job_queue_id int,
  task_id int not null,
  payload json not null default '{}'::json,
  priority smallint not null default 0,
  run_at timestamptz not null default now(),
  attempts smallint not null default 0,
  max_attempts smallint not null default 25,
  last_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  key text,
  locked_at timestamptz,
  locked_by text,
  revision int not null default 0,
  flags jsonb,
  is_available boolean not null
    generated always as (locked_at is null and attempts < max_attempts) stored,
  constraint jobs_pkey1 primary key (id),
  constraint jobs_key_key1 unique (key),
  constraint jobs_key_check check (length(key) > 0 and length(key) <= 512),
  constraint jobs_max_attempts_check check (max_attempts >= 1)
);

-- The next two indexes have entries for available jobs only, not for failed and locked jobs. They contain the
-- columns by which fetches select jobs, except for the flags.
create index jobs_main_index on :schema._private_jobs
  using btree (priority, run_at) include (id, task_id, job_queue_id)
  where (is_available = true);
create index jobs_no_queue_index on :schema._private_jobs
  using btree (priority, run_at) include (id, task_id)
  where (is_available = true and job_queue_id is null);

create table :schema._private_known_crontabs (
  identifier text not null,
  known_since timestamptz not null,
  last_execution timestamptz,
  constraint known_crontabs_pkey primary key (identifier)
);

-- The owner of these tables bypasses row level security. To other roles that do not bypass it, the tables seem
-- empty, because they have no policies.
alter table :schema._private_tasks enable row level security;
alter table :schema._private_job_queues enable row level security;
alter table :schema._private_jobs enable row level security;
alter table :schema._private_known_crontabs enable row level security;

create type :schema.job_spec as (
  identifier text,
  payload json,
  queue_name text,
  run_at timestamptz,
  max_attempts smallint,
  job_key text,
  priority smallint,
  flags text[]
);

-- The view has no payload, which may be large and confidential.
create view :schema.jobs as
  select
    jobs.id,
    job_queues.queue_name,
    tasks.identifier as task_identifier,
    jobs.priority,
    jobs.run_at,
    jobs.attempts,
    jobs.max_attempts,
    jobs.last_error,
    jobs.created_at,
    jobs.updated_at,
    jobs.key,
    jobs.locked_at,
    jobs.locked_by,
    jobs.revision,
    jobs.flags
  from :schema._private_jobs as jobs
  join :schema._private_tasks as tasks on tasks.id = jobs.task_id
  left join :schema._private_job_queues as job_queues on job_queues.id = jobs.job_queue_id;

-- Adds jobs: first those with keys, in the order of the keys, then the others, in the order of `specs`.
create function :schema.add_jobs(
  specs :schema.job_spec[],
  job_key_preserve_run_at boolean default false
) returns setof :schema._private_jobs language plpgsql as $body$
declare
  keys text[];
  added bigint;
begin
  if coalesce(cardinality(specs), 0) = 0 then
    return;
  end if;

  -- `not exists` first: a mere `on conflict do nothing` burns an id of the sequence each time.
  -- In order, so that two callers with the same new names cannot deadlock. And run even when there
  -- is nothing to insert: the statement's table lock is what keeps a clean-up that locks the table
  -- from deleting the task between here and our commit.
  insert into :schema._private_tasks (identifier)
  select distinct spec.identifier
  from unnest(specs) as spec
  where not exists (
    select from :schema._private_tasks as tasks where tasks.identifier = spec.identifier
  )
  order by spec.identifier
  on conflict do nothing;

  insert into :schema._private_job_queues (queue_name)
  select distinct spec.queue_name
  from unnest(specs) as spec
  where spec.queue_name is not null
  and not exists (
    select from :schema._private_job_queues as queues where queues.queue_name = spec.queue_name
  )
  order by spec.queue_name
  on conflict do nothing;

  keys := array(select spec.job_key from unnest(specs) as spec where spec.job_key is not null);
  if cardinality(keys) > 0 then
    -- Hold the jobs that have these keys until commit, so that no worker takes one between the
    -- next two statements; and take them in one order, so that two callers cannot deadlock.
    perform 1
    from :schema._private_jobs as jobs
    where jobs.key = any(keys)
    order by jobs.id
    for update;

    -- A job that runs has already seen the old state of the world, and an exhausted one will not
    -- run again: either loses its key, does not retry, and a new job is made below.
    update :schema._private_jobs as jobs
    set key = null, attempts = jobs.max_attempts, updated_at = now()
    where jobs.key = any(keys)
    and not jobs.is_available;
  end if;

  -- Sent at commit. An upper bound: it also counts jobs that only replace one of the same key.
  perform pg_notify(
    'jobs:insert',
    '{"r":' || random()::text || ',"count":' || cardinality(specs)::text || '}'
  );

  return query insert into :schema._private_jobs as jobs (
    job_queue_id, task_id, payload, run_at, max_attempts, key, priority, flags
  )
  select
    queues.id,
    tasks.id,
    coalesce(spec.payload, '{}'::json),
    coalesce(spec.run_at, now()),
    coalesce(spec.max_attempts, 25::smallint),
    spec.job_key,
    coalesce(spec.priority, 0::smallint),
    (select jsonb_object_agg(flag, true) from unnest(spec.flags) as flag)
  from unnest(specs) with ordinality as spec (
    identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, place
  )
  join :schema._private_tasks as tasks on tasks.identifier = spec.identifier
  left join :schema._private_job_queues as queues on queues.queue_name = spec.queue_name
  where (spec.queue_name is null or queues.id is not null)
  -- By key, so that two callers with the same new keys wait for each other instead of deadlocking;
  -- by place, so that ids, and with them jobs due at the same time, follow the order given.
  order by spec.job_key, spec.place
  on conflict (key) do update set
    job_queue_id = excluded.job_queue_id,
    task_id = excluded.task_id,
    -- Two arrays are joined: callers batch work under one key this way.
    payload = case
      when json_typeof(jobs.payload) = 'array' and json_typeof(excluded.payload) = 'array'
        then (jobs.payload::jsonb || excluded.payload::jsonb)::json
      else excluded.payload
    end,
    max_attempts = excluded.max_attempts,
    -- After a failure run_at is the retry's time, which nobody asked to preserve.
    run_at = case
      when job_key_preserve_run_at is true and jobs.attempts = 0 then jobs.run_at
      else excluded.run_at
    end,
    priority = excluded.priority,
    revision = jobs.revision + 1,
    flags = excluded.flags,
    attempts = 0,
    last_error = null,
    updated_at = now()
  where jobs.locked_at is null
  returning *;

  -- A task or queue was cleaned up, or a job of the same key was added and taken, in the moment
  -- between our statements. Better the caller tries again than that a job is lost in silence.
  get diagnostics added = row_count;
  if added < cardinality(specs) then
    raise exception 'only % of % jobs could be added, others changed at the same time',
      added, cardinality(specs)
      using errcode = 'serialization_failure', hint = 'Run the transaction again.';
  end if;
end;
$body$;

create function :schema.add_job(
  identifier text,
  payload json default null::json,
  queue_name text default null::text,
  run_at timestamptz default null::timestamptz,
  max_attempts int default null::int,
  job_key text default null::text,
  priority int default null::int,
  flags text[] default null::text[],
  job_key_mode text default 'replace'::text
) returns :schema._private_jobs language plpgsql as $body$
declare
  job :schema._private_jobs;
begin
  if job_key is null or job_key_mode is null or job_key_mode in ('replace', 'preserve_run_at') then
    select * into job from :schema.add_jobs(
      array[cast(
        row(
          identifier,
          payload,
          queue_name,
          run_at,
          max_attempts::smallint,
          job_key,
          priority::smallint,
          flags
        ) as :schema.job_spec
      )],
      job_key_mode = 'preserve_run_at'
    );
    return job;
  end if;

  if job_key_mode <> 'unsafe_dedupe' then
    raise exception
      'job_key_mode is %, must be one of replace, preserve_run_at, unsafe_dedupe',
      quote_literal(job_key_mode)
      using errcode = 'GWBKM';
  end if;

  insert into :schema._private_tasks (identifier)
  select add_job.identifier
  where not exists (
    select from :schema._private_tasks as tasks where tasks.identifier = add_job.identifier
  )
  on conflict do nothing;

  insert into :schema._private_job_queues (queue_name)
  select add_job.queue_name
  where add_job.queue_name is not null
  and not exists (
    select from :schema._private_job_queues as queues
    where queues.queue_name = add_job.queue_name
  )
  on conflict do nothing;

  -- Unsafe, because a job of that key which already runs, or has failed for good, also swallows
  -- the new one: what changed since it started is never acted upon.
  insert into :schema._private_jobs as jobs (
    job_queue_id, task_id, payload, run_at, max_attempts, key, priority, flags
  )
  select
    queues.id,
    tasks.id,
    coalesce(add_job.payload, '{}'::json),
    coalesce(add_job.run_at, now()),
    coalesce(add_job.max_attempts::smallint, 25::smallint),
    add_job.job_key,
    coalesce(add_job.priority::smallint, 0::smallint),
    (select jsonb_object_agg(flag, true) from unnest(add_job.flags) as flag)
  from :schema._private_tasks as tasks
  left join :schema._private_job_queues as queues on queues.queue_name = add_job.queue_name
  where tasks.identifier = add_job.identifier
  and (add_job.queue_name is null or queues.id is not null)
  -- `do update`, not `do nothing`: so that there is a row to return.
  on conflict (key) do update set revision = jobs.revision + 1, updated_at = now()
  returning * into job;

  if not found then
    raise exception 'the job could not be added, its task or queue was cleaned up at the same time'
      using errcode = 'serialization_failure', hint = 'Run the transaction again.';
  end if;
  if job.revision = 0 then
    perform pg_notify('jobs:insert', '{"r":' || random()::text || ',"count":1}');
  end if;
  return job;
end;
$body$;

create function :schema.remove_job(job_key text)
returns :schema._private_jobs strict language plpgsql as $body$
declare
  job :schema._private_jobs;
begin
  delete from :schema._private_jobs as jobs
  where jobs.key = remove_job.job_key
  and (jobs.locked_at is null or jobs.locked_at < now() - interval '4 hours')
  returning * into job;
  if found then
    perform pg_notify('jobs:insert', '{"r":' || random()::text || ',"count":-1}');
    return job;
  end if;

  -- It runs: let it end, but neither retry nor keep its key.
  update :schema._private_jobs as jobs
  set key = null, attempts = jobs.max_attempts, updated_at = now()
  where jobs.key = remove_job.job_key
  returning * into job;
  return job;
end;
$body$;

-- The next three functions leave out locked jobs. If a lock is older than four hours, its worker is assumed to have
-- ended, and the job counts as not locked.
create function :schema.complete_jobs(job_ids bigint[])
returns setof :schema._private_jobs language sql as $body$
  delete from :schema._private_jobs as jobs
  where jobs.id = any(complete_jobs.job_ids)
  and (jobs.locked_at is null or jobs.locked_at < now() - interval '4 hours')
  returning *;
$body$;

create function :schema.permanently_fail_jobs(
  job_ids bigint[],
  error_message text default null::text
) returns setof :schema._private_jobs language sql as $body$
  update :schema._private_jobs as jobs
  set
    last_error = coalesce(permanently_fail_jobs.error_message, 'Manually marked as failed'),
    attempts = jobs.max_attempts,
    updated_at = now()
  where jobs.id = any(permanently_fail_jobs.job_ids)
  and (jobs.locked_at is null or jobs.locked_at < now() - interval '4 hours')
  returning *;
$body$;

create function :schema.reschedule_jobs(
  job_ids bigint[],
  run_at timestamptz default null::timestamptz,
  priority int default null::int,
  attempts int default null::int,
  max_attempts int default null::int
) returns setof :schema._private_jobs language sql as $body$
  update :schema._private_jobs as jobs
  set
    run_at = coalesce(reschedule_jobs.run_at, jobs.run_at),
    priority = coalesce(reschedule_jobs.priority::smallint, jobs.priority),
    attempts = coalesce(reschedule_jobs.attempts::smallint, jobs.attempts),
    max_attempts = coalesce(reschedule_jobs.max_attempts::smallint, jobs.max_attempts),
    updated_at = now()
  where jobs.id = any(reschedule_jobs.job_ids)
  and (jobs.locked_at is null or jobs.locked_at < now() - interval '4 hours')
  returning *;
$body$;

create function :schema.force_unlock_workers(worker_ids text[])
returns void language sql as $body$
  update :schema._private_jobs as jobs
  set locked_at = null, locked_by = null
  where jobs.locked_by = any(force_unlock_workers.worker_ids);
  update :schema._private_job_queues as queues
  set locked_at = null, locked_by = null
  where queues.locked_by = any(force_unlock_workers.worker_ids);
$body$;

insert into :schema.migrations (id, breaking)
select id, id in (1, 3, 11, 13, 14, 16, 19)
from generate_series(1, 20) as id;
