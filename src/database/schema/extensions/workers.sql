-- The table of workers with their heartbeats, and the functions that recover the jobs of stale workers. Graphile
-- Worker's Rust port has the same names and signatures. An object that the Rust port has created is not changed.
-- extension.ts explains the lines that begin with three dashes.

--- create _private_workers
create table :schema._private_workers (
  id text primary key,
  last_heartbeat_at timestamptz not null,
  started_at timestamptz not null default now(),
  metadata jsonb
);
create index _private_workers_last_heartbeat_at_idx
  on :schema._private_workers (last_heartbeat_at);

--- create worker_heartbeat
create function :schema.worker_heartbeat(worker_id text, metadata json default null::json)
returns void language sql as $body$
  insert into :schema._private_workers as workers (id, last_heartbeat_at, metadata)
  values (worker_heartbeat.worker_id, now(), worker_heartbeat.metadata::jsonb)
  on conflict (id) do update set
    last_heartbeat_at = excluded.last_heartbeat_at,
    metadata = coalesce(excluded.metadata, workers.metadata);
$body$;

--- create worker_deregister
create function :schema.worker_deregister(worker_id text)
returns void language sql as $body$
  delete from :schema._private_workers as workers
  where workers.id = worker_deregister.worker_id;
$body$;

--- create list_stale_workers
create function :schema.list_stale_workers(stale_threshold interval)
returns table (worker_id text) stable language sql as $body$
  select workers.id
  from :schema._private_workers as workers
  where workers.last_heartbeat_at < now() - list_stale_workers.stale_threshold;
$body$;

--- create list_orphan_locked_workers
-- Returns the ids of workers that hold a lock older than the threshold and have no row in _private_workers. A
-- worker that sends no heartbeats, such as a Graphile worker, never has a row. So the threshold must be longer
-- than the longest job of such a worker.
create function :schema.list_orphan_locked_workers(stale_threshold interval)
returns table (worker_id text) stable language sql as $body$
  select locks.locked_by
  from (
    select jobs.locked_by, jobs.locked_at from :schema._private_jobs as jobs
    union all
    select queues.locked_by, queues.locked_at from :schema._private_job_queues as queues
  ) as locks
  where locks.locked_at < now() - list_orphan_locked_workers.stale_threshold
  and locks.locked_by is not null
  and not exists (
    select from :schema._private_workers as workers where workers.id = locks.locked_by
  )
  group by locks.locked_by;
$body$;

--- create recover_dead_worker_jobs
-- Unlocks the jobs and queues that these workers have locked. Returns the number of recovered jobs. The
-- interrupted attempt of each job counts, so that a job that kills its workers runs out of attempts at some point.
create function :schema.recover_dead_worker_jobs(
  worker_ids text[],
  recovery_delay interval default interval '0 seconds'
) returns int language plpgsql as $body$
declare
  recovered int;
begin
  -- One order for all, so that two sweepers at once wait for each other instead of deadlocking.
  perform 1
  from :schema._private_jobs as jobs
  where jobs.locked_by = any(recover_dead_worker_jobs.worker_ids)
  order by jobs.id
  for update;

  update :schema._private_jobs as jobs
  set
    locked_at = null,
    locked_by = null,
    run_at = greatest(jobs.run_at, now() + recover_dead_worker_jobs.recovery_delay),
    last_error = 'Recovered: worker ' || jobs.locked_by || ' died during this job',
    updated_at = now()
  where jobs.locked_by = any(recover_dead_worker_jobs.worker_ids);
  get diagnostics recovered = row_count;

  update :schema._private_job_queues as queues
  set locked_at = null, locked_by = null
  where queues.locked_by = any(recover_dead_worker_jobs.worker_ids);
  return recovered;
end;
$body$;

--- create delete_stale_workers
create function :schema.delete_stale_workers(worker_ids text[])
returns void language sql as $body$
  delete from :schema._private_workers as workers
  where workers.id = any(delete_stale_workers.worker_ids);
$body$;
