select coalesce(has_table_privilege(to_regclass($1::text), 'select'), false) as present;

  select asked.id
  from unnest($1::text[]) with ordinality as asked (id, n)
  where not exists (
    select from "worker"._private_jobs as jobs
    where jobs.locked_by = asked.id and jobs.locked_at is not null and not jobs.is_available
  )
  and not exists (
    select from "worker"._private_job_queues as queues where queues.locked_by = asked.id
  )
  and not exists (
    select from "worker"._private_workers as workers where workers.id = asked.id
  )
  order by asked.n
