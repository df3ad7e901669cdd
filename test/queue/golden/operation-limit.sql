  with mine as materialized (
    select kept from "worker"._private_operations
    where id = $6::bigint and owner = $7::text
    and state = 'running' and after_id = $1::bigint
    for update
  ), found as materialized (
    select jobs.id, jobs.ctid, false as is_locked,
      true and coalesce((jobs.created_at > $3::timestamptz or jobs.created_at = any($4::timestamptz[])), false) as is_changed
    from "worker"._private_jobs as jobs
    where jobs.id > $1::bigint and jobs.id <= $2::bigint and (jobs.task_id = any($12::int[]))
    and exists (select from mine)
    order by jobs.id
    limit $5::int
  ), locked_jobs as materialized (
    select jobs.id, jobs.updated_at, jobs.task_id, jobs.attempts, jobs.key, jobs.revision, jobs.max_attempts
    from found
    join "worker"._private_jobs as jobs on jobs.ctid = found.ctid and jobs.id = found.id
    where not found.is_locked and not found.is_changed
    and true and not (jobs.created_at > $3::timestamptz or jobs.created_at = any($4::timestamptz[]))
    and (jobs.task_id = any($12::int[]))
    order by jobs.id
    for update of jobs skip locked
  ), acted as (
    update "worker"._private_jobs as jobs
    set
      max_attempts = greatest(1::smallint, jobs.attempts),
      updated_at = case when jobs.locked_at is null then pg_catalog.now() else jobs.updated_at end
    where jobs.id = any(array(select locked_jobs.id from locked_jobs))
    returning jobs.id, jobs.updated_at, jobs.attempts
  ), announced as materialized (
    select pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), pg_catalog.count(*))) from acted having pg_catalog.count(*) > 0 and false
  ), kept as (
    insert into "worker"._private_operation_rows (
      operation_id, job_id, outcome, left_at, left_attempts,
      updated_at, task_id, attempts, key, revision, max_attempts
    )
    select $8::bigint, targets.id, case when acted.id is not null then 'd' when targets.is_changed then 'c' else 'l' end::"char", acted.updated_at, acted.attempts,
      images.updated_at, images.task_id, images.attempts, images.key, images.revision, images.max_attempts
    from found as targets
    left join acted on acted.id = targets.id
    left join locked_jobs as images on images.id = acted.id
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
