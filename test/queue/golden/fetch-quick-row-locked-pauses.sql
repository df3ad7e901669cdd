select 
  pg_catalog.concat_ws(E'\x1f', pg_catalog.concat('{', j.id, '}'), j.payload,
    pg_catalog.encode(pg_catalog.timestamptz_send(j.run_at), 'base64'), j.task_id,
    coalesce((select pg_catalog.json_build_object(t.id, t.identifier)::text
      from "worker"._private_tasks t where t.id = j.task_id), ''),
    j.priority, j.attempts + 1, j.max_attempts,
    case when j.created_at = j.run_at then ''
      else pg_catalog.json_build_array(pg_catalog.date_part('epoch', j.created_at))::text end,
    case when j.key is not null or j.revision > 0 or j.flags is not null or j.last_error is not null then pg_catalog.json_build_array(pg_catalog.json_build_array(j.id::text, j.key, j.revision, j.flags, j.last_error))::text else '' end) as job 
from "worker"._private_jobs j
where j.is_available and j.run_at <= pg_catalog.now() and j.job_queue_id is null
  and j.priority = (select priority from "worker"._private_jobs
    where is_available and job_queue_id is null order by priority limit 1)
  and j.task_id = any(array(
    select t.id from "worker"._private_tasks t where t.identifier = any($1::text[]) and not exists (
      select from "worker"._private_pauses p
      where (p.scope = 'all' or p.scope = 'task' and p.name = t.identifier)
      and (p.resume_at is null or p.resume_at > pg_catalog.now()))))  and (j.key is null and j.xmax = 0)
order by j.run_at limit $2::int for update skip locked
