select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

  select
    array(select id from "worker"._private_tasks
      where identifier ilike any ($1::text[]))::text as tasks,
    array(select id from "worker"._private_job_queues
      where queue_name ilike any ($1::text[]))::text as queues;

-- "größe" -is:scheduled
select jobs.id, null::text as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and ((jobs.task_id = any($2::int[]) or jobs.key ilike any ($3::text[]) or jobs.locked_by ilike any ($3::text[]) or (jobs.last_error ilike any ($3::text[])) or (jobs.payload::text ilike any ($3::text[]))) and ((jobs.is_available and jobs.attempts = 0 and jobs.run_at > $4::text::timestamptz) is not true))
order by jobs.id
