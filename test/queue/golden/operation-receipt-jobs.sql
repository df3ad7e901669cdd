  select met.id, coalesce(tasks.identifier, pg_catalog.left(was.task_identifier, 128)) as task_identifier,
    pg_catalog.left(case when jobs.id is null then was.last_error else jobs.last_error end, 300) as error
  from pg_catalog.unnest($1::bigint[]) as met (id)
  left join "worker"._private_jobs as jobs on jobs.id = met.id
  left join "worker"._private_operation_rows as was
    on was.operation_id = $2::bigint and was.job_id = met.id
  left join "worker"._private_tasks as tasks on tasks.id = coalesce(jobs.task_id, was.task_id)
  order by met.id
