select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

  select array(
    select id from "worker"._private_job_queues as queues
    where not is_available and queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like 'managed:%', false) order by id
  )::text as ids;

-- is:ready,blocked due<+10m queue=none
select jobs.id, null::text as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and (((jobs.is_available and (jobs.is_available and jobs.run_at <= $2::text::timestamptz and jobs.job_queue_id = any($3::int[])) is not true and jobs.attempts = 0 and jobs.run_at <= $2::text::timestamptz) or (jobs.is_available and jobs.run_at <= $4::text::timestamptz and jobs.job_queue_id = any($5::int[]))) and (jobs.is_available and jobs.run_at < $6::text::timestamptz) and (jobs.job_queue_id is null))
order by jobs.id
