  select targets.id, coalesce(tasks.identifier, pg_catalog.left(images.task_identifier, 128)) as task_identifier,
    pg_catalog.left(case when jobs.id is null then images.last_error else jobs.last_error end, 300) as error
  from pg_catalog.unnest($1::bigint[]) as targets (id)
  left join "worker"._private_jobs as jobs on jobs.id = targets.id
  left join "worker"._private_operation_rows as images
    on images.operation_id = $2::bigint and images.job_id = targets.id
  left join "worker"._private_tasks as tasks on tasks.id = coalesce(jobs.task_id, images.task_id)
  order by targets.id
