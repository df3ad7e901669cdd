  with mine as materialized (
    select from "worker"._private_operations
    where id = $1::bigint and owner = $4::text
    and state = 'undoing' and undo_after_id = $2::bigint
    for update
  ), batch as materialized (
    select images.*
    from "worker"._private_operation_rows as images
    where (images.operation_id, images.job_id) > ($1::bigint, $2::bigint)
    and (images.operation_id, images.job_id) <= ($1::bigint, 9223372036854775807) and exists (select from mine)
    order by images.operation_id, images.job_id
    limit $3::int
  ), locked_jobs as materialized (
    select jobs.id
    from batch
    join "worker"._private_jobs as jobs on jobs.id = batch.job_id
    where batch.outcome = 'd' and jobs.locked_at is null
    and jobs.updated_at = batch.left_at and jobs.attempts = batch.left_attempts and jobs.last_error is not distinct from coalesce($5::text, 'Manually marked as failed')
    order by jobs.id
    for update of jobs skip locked
  ), restored as (
    update "worker"._private_jobs as jobs
    set last_error = batch.last_error, attempts = batch.attempts, updated_at = case when jobs.updated_at = batch.left_at then batch.updated_at else jobs.updated_at end
    from batch
    join locked_jobs on locked_jobs.id = batch.job_id
    where jobs.id = locked_jobs.id
    returning jobs.id
  ), announced as materialized (
    select pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), pg_catalog.count(*))) from restored having pg_catalog.count(*) > 0
  ), left_alone as materialized (
    select batch.job_id, case
        when jobs.id is null then 'g'
        when jobs.locked_at is not null then 'l'
        when not (jobs.updated_at = batch.left_at and jobs.attempts = batch.left_attempts and jobs.last_error is not distinct from coalesce($6::text, 'Manually marked as failed')) then 'c'
        else 'l'
      end::"char" as why
    from batch
    left join "worker"._private_jobs as jobs on jobs.id = batch.job_id
    where batch.outcome = 'd' and batch.job_id not in (select id from restored)
  ), noted as (
    update "worker"._private_operation_rows as images
    set undo_outcome = left_alone.why
    from left_alone
    where images.operation_id = $1::bigint and images.job_id = left_alone.job_id
  ), tally as materialized (
    select
      (select pg_catalog.count(*) from batch) as found,
      (select pg_catalog.max(job_id) from batch) as last_id,
      (select pg_catalog.count(*) from restored) as done,
      pg_catalog.count(*) filter (where why = 'k') as key_taken,
      pg_catalog.count(*) filter (where why = 'c') as changed,
      pg_catalog.count(*) filter (where why = 'g') as gone,
      pg_catalog.count(*) filter (where why = 'l') as locked
    from left_alone
  ), moved as (
    update "worker"._private_operations as operation
    set
      undo_after_id = coalesce(tally.last_id, operation.undo_after_id),
      undone = operation.undone + tally.done,
      undo_key_taken = operation.undo_key_taken + tally.key_taken,
      undo_changed = operation.undo_changed + tally.changed,
      undo_gone = operation.undo_gone + tally.gone,
      undo_locked = operation.undo_locked + tally.locked,
      lease_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $7::int),
      rate_per_s = $8::int,
      eta_s = $9::int
    from tally, mine
    where operation.id = $1::bigint
    returning operation.undo_after_id as after_id, operation.undo_key_taken,
      operation.undo_changed, operation.undo_gone, operation.undo_locked
  )
  select tally.found::int, tally.done::int, moved.*,
    (select pg_catalog.count(*) from announced)::int as announced
  from tally left join moved on true
