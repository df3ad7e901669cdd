  select met.id, tasks.identifier as task_identifier, pg_catalog.left(jobs.last_error, 300) as error
  from pg_catalog.unnest($1::bigint[]) as met (id)
  left join "worker"._private_jobs as jobs on jobs.id = met.id
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  order by met.id
