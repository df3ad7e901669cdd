select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as present;

  with deleted as (
    delete from "worker"._private_tasks as tasks
    where not exists (
      select from "worker"._private_jobs as jobs where jobs.task_id = tasks.id
    )
    and tasks.identifier <> all($1::text[])
    returning 1
  )
  select pg_catalog.count(*) as deleted from deleted
