select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

  (select true as is_task, id, identifier as name
    from "worker"._private_tasks
    where identifier = any($1::text[]) or identifier collate "C" like any ($2::text[])
    limit 10001)
  union all
  (select false, id, queue_name
    from "worker"._private_job_queues
    where queue_name = any($3::text[]) or queue_name collate "C" like any ($4::text[])
    limit 10001);

-- is:failed failed<2h task:mail -error:timeout
select jobs.id, null::text as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and ((jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available) and (jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available and jobs.updated_at >= $2::text::timestamptz) and (jobs.task_id = any($3::int[])) and ((pg_catalog.strpos(pg_catalog.lower(jobs.last_error collate "C"), ($4::text[])[1]) > 0) is not true))
order by jobs.id
