  with mine as materialized (
    select kept from "worker"._private_operations
    where id = $6::bigint and owner = $7::text
    and state = 'running' and after_id = $1::bigint
    for update
  ), found as materialized (
    select jobs.id, jobs.ctid, jobs.locked_at is not null as is_locked,
      jobs.locked_at is null and coalesce((jobs.updated_at > $3::timestamptz or jobs.updated_at = any($4::timestamptz[])), false) as is_changed
    from "worker"._private_jobs as jobs
    where jobs.id > $1::bigint and jobs.id <= $2::bigint and (jobs.task_id = any($15::int[]))
    and exists (select from mine)
    order by jobs.id
    limit $5::int
  ), locked_jobs as materialized (
    select jobs.id, jobs.updated_at, jobs.task_id, jobs.attempts, jobs.last_error
    from found
    join "worker"._private_jobs as jobs on jobs.ctid = found.ctid and jobs.id = found.id
    where not found.is_locked and not found.is_changed
    and jobs.locked_at is null and not (jobs.updated_at > $3::timestamptz or jobs.updated_at = any($4::timestamptz[]))
    and (jobs.task_id = any($15::int[]))
    order by jobs.id
    for update of jobs skip locked
  ), acted as (
    update "worker"._private_jobs as jobs
    set
      last_error = $8::text,
      attempts = jobs.max_attempts,
      updated_at = pg_catalog.now()
    where jobs.id = any(array(select locked_jobs.id from locked_jobs))
    returning jobs.id, jobs.updated_at, jobs.attempts
  ), missed as materialized (
    select jobs.id, jobs.locked_at
    from "worker"._private_jobs as jobs
    where jobs.id in (
      select id from found where not is_locked and not is_changed and id not in (select acted.id from acted))
    order by jobs.id
    for update of jobs skip locked
  ), locked_row as materialized (
    select locked.id from "worker"._private_jobs as locked
    where locked.id in (select found.id from found where not found.is_changed
      and found.id not in (select acted.id from acted)
      and found.id not in (select missed.id from missed where missed.locked_at is null)) and locked.locked_at is not null
    order by locked.id
    for update skip locked
  ), last_attempt as (
    update "worker"._private_jobs as locked set max_attempts = greatest(1::smallint, locked.attempts)
    where locked.id in (select locked_row.id from locked_row) and locked.attempts < locked.max_attempts
  ), requested as (
    insert into "worker"._private_cancellations as requests (job_id, requested_at, reason, requested_by)
    select running.id, pg_catalog.now(), $9::text, $10::text from (select found.id from found where not found.is_changed
      and found.id not in (select acted.id from acted)
      and found.id not in (select missed.id from missed where missed.locked_at is null)) as running (id) order by running.id
    on conflict (job_id) do update set requested_at = excluded.requested_at,
      reason = coalesce(excluded.reason, requests.reason),
      requested_by = coalesce(excluded.requested_by, requests.requested_by)
    returning pg_catalog.pg_notify('worker:control', 'cancel '::text || coalesce(pg_catalog.left((select locked_by from "worker"._private_jobs as locked where locked.id = requests.job_id), 1000), ''::text))
  ), announced as materialized (
    select pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), pg_catalog.count(*))) from acted having pg_catalog.count(*) > 0 and false
  ), kept as (
    insert into "worker"._private_operation_rows (
      operation_id, job_id, outcome, left_at, left_attempts,
      updated_at, task_id, attempts, last_error
    )
    select $11::bigint, targets.id, case when acted.id is not null then 'd' when targets.is_changed then 'c' else 'l' end::"char", acted.updated_at, acted.attempts,
      images.updated_at, images.task_id, images.attempts, images.last_error
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
      lease_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $12::int),
      rate_per_s = $13::int,
      eta_s = $14::int
    from tally, mine
    where operation.id = $11::bigint
    returning operation.after_id
  )
  select tally.found::int, tally.changed::int, tally.done::int, moved.after_id, array(
      select id from found
      where not is_locked and not is_changed and id not in (select id from acted)
    ) as missed_ids,
    (select pg_catalog.count(*) from announced)::int as announced
  from tally left join moved on true
