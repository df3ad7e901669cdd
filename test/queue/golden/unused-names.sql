select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as present;

  select pg_catalog.count(*) as count from "worker"._private_tasks as tasks
  where not exists (select from pg_catalog.unnest($1::int[]) as used (id) where used.id = tasks.id)
  and not exists (
      select from "worker"._private_workers as workers
      where workers.metadata -> 'task_identifiers'::text ? tasks.identifier
      or workers.metadata @> '{"tasks_cut": true}'
    );

  select pg_catalog.count(*) as count from "worker"._private_job_queues as queues
  where queues.locked_at is null
  and not exists (select from pg_catalog.unnest($1::int[]) as used (id) where used.id = queues.id)
