  with mine as materialized (
    select kept from "worker"._private_operations
    where id = $6::bigint and owner = $7::text
    and state = 'running' and after_id = $1::bigint
    for update
  ), found as materialized (
    select jobs.id, jobs.ctid, jobs.locked_at is not null as is_locked,
      jobs.locked_at is null and coalesce((jobs.updated_at > $3::timestamptz or jobs.updated_at = any($4::timestamptz[])), false) as is_changed
    from "worker"._private_jobs as jobs
    where jobs.id > $1::bigint and jobs.id <= $2::bigint and (jobs.task_id = any($12::int[]))
    and exists (select from mine)
    order by jobs.id
    limit $5::int
  ), locked_jobs as materialized (
    select jobs.id, jobs.ctid
    from found
    join "worker"._private_jobs as jobs on jobs.ctid = found.ctid and jobs.id = found.id
    where not found.is_locked and not found.is_changed
    and jobs.locked_at is null and not (jobs.updated_at > $3::timestamptz or jobs.updated_at = any($4::timestamptz[]))
    and (jobs.task_id = any($12::int[]))
    order by jobs.id
    for update of jobs skip locked
  ), acted as (
    delete from "worker"._private_jobs as jobs
    using locked_jobs
    where jobs.ctid = locked_jobs.ctid and jobs.id = locked_jobs.id
    returning jobs.id, jobs.run_at, jobs.created_at, jobs.updated_at, jobs.task_id, jobs.job_queue_id, jobs.revision, jobs.attempts, jobs.max_attempts, jobs.priority, jobs.last_error, jobs.payload, jobs.key, jobs.flags
  ), announced as materialized (
    select pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), pg_catalog.count(*))) from acted having pg_catalog.count(*) > 0 and false
  ), kept as (
    insert into "worker"._private_operation_rows (
      operation_id, job_id, outcome, left_at, left_attempts,
      run_at, created_at, updated_at, task_id, job_queue_id, revision, attempts, max_attempts, priority, last_error, payload, key, flags, task_identifier, queue_name
    )
    select $8::bigint, targets.id, case when acted.id is not null then 'd' when targets.is_changed then 'c' else 'l' end::"char", acted.updated_at, acted.attempts,
      acted.run_at, acted.created_at, acted.updated_at, acted.task_id, acted.job_queue_id, acted.revision, acted.attempts, acted.max_attempts, acted.priority, acted.last_error, acted.payload, acted.key, acted.flags, tasks.identifier, queues.queue_name
    from found as targets
    left join acted on acted.id = targets.id
    left join "worker"._private_tasks as tasks on tasks.id = acted.task_id
    left join "worker"._private_job_queues as queues on queues.id = acted.job_queue_id
    where (select kept from mine) < 1000000
    returning 1
  ), tally as materialized (
    select
      (select pg_catalog.count(*) from found) as found,
      (select pg_catalog.max(id) from found) as last_id,
      (select pg_catalog.count(*) from found where is_changed) as changed,
      (select pg_catalog.count(*) from acted) as done,
      (select pg_catalog.count(*) from kept) as kept
  ), moved as (
    update "worker"._private_operations as operation
    set
      after_id = case when tally.found < $5::int then $2::bigint else tally.last_id end,
      done = operation.done + tally.done,
      skipped_changed = operation.skipped_changed + tally.changed,
      skipped_locked = operation.skipped_locked + tally.found - tally.changed - tally.done,
      kept = operation.kept + tally.kept,
      lease_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $9::int),
      rate_per_s = $10::int,
      eta_s = $11::int
    from tally, mine
    where operation.id = $8::bigint
    returning operation.after_id
  )
  select tally.found::int, tally.changed::int, tally.done::int, moved.after_id, array(
      select id from found
      where not is_locked and not is_changed and id not in (select id from acted)
    ) as missed_ids,
    (select pg_catalog.count(*) from announced)::int as announced
  from tally left join moved on true
