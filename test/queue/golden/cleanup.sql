  with failed as materialized (
    select jobs.id
    from "worker"._private_jobs as jobs
    where jobs.id > $1::bigint and jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available
    order by jobs.id
    limit $2::int
    for update skip locked
  ), deleted as (
    delete from "worker"._private_jobs as jobs
    using failed
    where jobs.id = failed.id
    returning jobs.id
  )
  select pg_catalog.count(*) as deleted, pg_catalog.max(id) as last from deleted;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as present;

  with deleted as (
    delete from "worker"._private_tasks as tasks
    where not exists (
      select from "worker"._private_jobs as jobs where jobs.task_id = tasks.id
    )
    and tasks.identifier <> all($1::text[])
    and not exists (
      select from "worker"._private_workers as workers
      where workers.metadata -> 'task_identifiers'::text ? tasks.identifier
      or workers.metadata @> '{"tasks_cut": true}'
    )
    returning 1
  )
  select pg_catalog.count(*) as deleted from deleted;

  with deleted as (
    delete from "worker"._private_job_queues as queues
    where queues.locked_at is null
    and not exists (
      select from "worker"._private_jobs as jobs where jobs.job_queue_id = queues.id
    )
    returning 1
  )
  select pg_catalog.count(*) as deleted from deleted
