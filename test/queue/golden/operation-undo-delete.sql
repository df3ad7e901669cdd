  with batch as materialized (
    select images.task_identifier, images.queue_name
    from "worker"._private_operation_rows as images
    where (images.operation_id, images.job_id) > ($1::bigint, $2::bigint)
    and (images.operation_id, images.job_id) <= ($1::bigint, 9223372036854775807)
    order by images.operation_id, images.job_id
    limit $3::int
  ), tasks as (
    insert into "worker"._private_tasks (identifier)
    select distinct task_identifier from batch
    where task_identifier is not null
    and not exists (select from "worker"._private_tasks where identifier = task_identifier)
    order by task_identifier
    on conflict do nothing
  )
  insert into "worker"._private_job_queues (queue_name)
  select distinct queue_name from batch
  where batch.queue_name is not null
  and not exists (
    select from "worker"._private_job_queues as queues where queues.queue_name = batch.queue_name
  )
  order by queue_name
  on conflict do nothing;

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
  ), restored as (
    insert into "worker"._private_jobs (
      id, job_queue_id, task_id, payload, priority, run_at, attempts, max_attempts, last_error,
      created_at, updated_at, key, revision, flags
    )
    overriding system value
    select
      batch.job_id, coalesce(queues.id, batch.job_queue_id), coalesce(tasks.id, batch.task_id),
      batch.payload, batch.priority, batch.run_at, batch.attempts, batch.max_attempts,
      batch.last_error, batch.created_at, batch.updated_at, batch.key, batch.revision, batch.flags
    from batch
    left join "worker"._private_tasks as tasks on tasks.identifier = batch.task_identifier
    left join "worker"._private_job_queues as queues on queues.queue_name = batch.queue_name
    where batch.outcome = 'd'
    order by batch.job_id
    on conflict do nothing
    returning id
  ), announced as materialized (
    select pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), pg_catalog.count(*))) from restored having pg_catalog.count(*) > 0
  ), left_alone as materialized (
    select batch.job_id, case when jobs.id is not null or batch.key is null then 'c' else 'k' end::"char" as why
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
      lease_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $5::int),
      rate_per_s = $6::int,
      eta_s = $7::int
    from tally, mine
    where operation.id = $1::bigint
    returning operation.undo_after_id as after_id, operation.undo_key_taken,
      operation.undo_changed, operation.undo_gone, operation.undo_locked
  )
  select tally.found::int, tally.done::int, moved.*,
    (select pg_catalog.count(*) from announced)::int as announced
  from tally left join moved on true
