-- The step from version 1 to 2. In functions that write, the names of PostgreSQL's functions are now qualified
-- with pg_catalog, and functions that only read now have a search path of their own. So none of them calls a
-- function that another role has created in a schema on the caller's search path.

--- change worker_heartbeat
create or replace function :schema.worker_heartbeat(worker_id text, metadata json default null::json)
returns void language sql as $body$
  insert into :schema._private_workers as workers (id, last_heartbeat_at, metadata)
  values (worker_heartbeat.worker_id, pg_catalog.now(), worker_heartbeat.metadata::jsonb)
  on conflict (id) do update set
    last_heartbeat_at = excluded.last_heartbeat_at,
    metadata = coalesce(excluded.metadata, workers.metadata);
$body$;

--- change list_stale_workers
alter function :schema.list_stale_workers(interval) set search_path = pg_catalog, pg_temp;

--- change list_orphan_locked_workers
alter function :schema.list_orphan_locked_workers(interval) set search_path = pg_catalog, pg_temp;

--- change recover_dead_worker_jobs
create or replace function :schema.recover_dead_worker_jobs(
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
    run_at = greatest(jobs.run_at, pg_catalog.now() + recover_dead_worker_jobs.recovery_delay),
    last_error = 'Recovered: worker ' || jobs.locked_by || ' died during this job',
    updated_at = pg_catalog.now()
  where jobs.locked_by = any(recover_dead_worker_jobs.worker_ids);
  get diagnostics recovered = row_count;

  update :schema._private_job_queues as queues
  set locked_at = null, locked_by = null
  where queues.locked_by = any(recover_dead_worker_jobs.worker_ids);
  return recovered;
end;
$body$;
