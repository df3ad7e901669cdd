select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

  select array(
    select id from "worker"._private_job_queues as queues
    where not is_available and queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like 'managed:%', false) order by id
  )::text as ids;

  select
    (select id from "worker"._private_jobs where id = words.id) as id,
    (select key from "worker"._private_jobs where key = words.word) as key,
    (select id from "worker"._private_tasks where identifier = words.word) as task_id,
    (select id from "worker"._private_job_queues where queue_name = words.word) as queue_id
  from unnest($1::bigint[], $2::text[]) with ordinality as words (id, word, place)
  order by words.place;

  select
    array(select id from "worker"._private_tasks
      where pg_catalog.strpos(pg_catalog.lower(identifier collate "C"), ($1::text[])[1]) > 0)::text as tasks,
    array(select id from "worker"._private_job_queues
      where pg_catalog.strpos(pg_catalog.lower(queue_name collate "C"), ($1::text[])[1]) > 0)::text as queues;

-- etimedout is:retrying
select jobs.id, null::text as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and ((jobs.task_id = any($2::int[]) or pg_catalog.strpos(pg_catalog.lower(jobs.key collate "C"), ($3::text[])[1]) > 0 or pg_catalog.strpos(pg_catalog.lower(jobs.locked_by collate "C"), ($3::text[])[1]) > 0 or (pg_catalog.strpos(pg_catalog.lower(jobs.last_error collate "C"), ($3::text[])[1]) > 0) or (pg_catalog.strpos(pg_catalog.lower(jobs.payload::text collate "C"), ($3::text[])[1]) > 0)) and (jobs.is_available and (jobs.is_available and jobs.run_at <= $4::text::timestamptz and jobs.job_queue_id = any($5::int[])) is not true and jobs.locked_at is null and jobs.attempts > 0
    and jobs.attempts < jobs.max_attempts))
order by jobs.id
