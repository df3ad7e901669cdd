with recursive done as (
  delete from "worker"._private_jobs j where j.id = any($4::bigint[]) and j.locked_by = $3::text
  returning j.id
), level (priority) as (
  select $5::smallint
  union all
  select (select j.priority from "worker"._private_jobs j
    where j.is_available and job_queue_id is null and j.priority > level.priority
    order by j.priority limit 1)
  from level where level.priority is not null
), without_queue as materialized (
  select f.* from level cross join lateral (
    select j.ctid from "worker"._private_jobs j
    where j.is_available and j.run_at <= now() and j.job_queue_id is null and j.priority = level.priority
      and j.run_at >= case when level.priority = $5::smallint
                           then to_timestamp($6::float8) else '-infinity' end
      and j.task_id = any(array(
    select t.id from "worker"._private_tasks t where t.identifier = any($1::text[]))) and j.ctid = any(array(
        select head.ctid from (
          select h.ctid, (h.key is null and h.xmax = 0) as is_fast from "worker"._private_jobs h
          where h.is_available and h.run_at <= now() and h.job_queue_id is null and h.priority = level.priority
            and h.task_id = any(array(
    select t.id from "worker"._private_tasks t where t.identifier = any($1::text[]))) 
            order by h.run_at limit 2000) head
        where not head.is_fast)) 
    order by j.run_at limit $2::int for update skip locked) f
  where level.priority is not null limit $2::int
), taken as (
  update "worker"._private_jobs j
  set attempts = j.attempts + 1, locked_by = $3::text, locked_at = now()
  where j.ctid = any(array(select ctid from without_queue))
  returning j.id, j.task_id, j.job_queue_id, j.payload,
    j.priority, j.run_at, j.attempts as attempts, j.max_attempts,
    nullif(j.created_at, j.run_at) as created_at,
    case when j.key is not null or j.revision > 0 or j.flags is not null or j.last_error is not null
      then json_build_array(j.id::text, j.key, j.revision, j.flags, j.last_error) end as rare
)
select date_part('epoch', now()) as now_s,
  exists (select from "worker"._private_job_queues where is_available) as queues,
  case when (select count(*) from done) < cardinality($4::bigint[]) then
    array(select unnest($4::bigint[]) except select id from done)::text end as lost,
  
  array_agg(j.id)::text as ids,
  encode(string_agg(timestamptz_send(j.run_at), ''), 'base64') as run_ats,
  string_agg(case when octet_length(j.payload::text) > 8192 then '' else j.payload::text end,
    E'\x1f') as payloads,
  case when min(j.task_id) = max(j.task_id) then min(j.task_id)::text else (select array_to_json(array_agg(task_id))::text from taken) end as task_ids,
  (select json_object_agg(t.id, t.identifier)::text
    from "worker"._private_tasks t where t.id = any(array(select task_id from taken))) as task_names,
  case when min(j.priority) = max(j.priority) then min(j.priority)::text else (select array_to_json(array_agg(priority))::text from taken) end as priorities,
  case when min(j.attempts) = max(j.attempts) then min(j.attempts)::text else (select array_to_json(array_agg(attempts))::text from taken) end as attempts,
  case when min(j.max_attempts) = max(j.max_attempts) then min(j.max_attempts)::text else (select array_to_json(array_agg(max_attempts))::text from taken) end as max_attempts,
  null as queue_ids,
  null as queue_names,
  case when count(j.created_at) > 0 then (select array_to_json(array_agg(date_part('epoch', created_at)))::text from taken) end as created_ats,
  (json_agg(j.rare) filter (where j.rare is not null))::text as rare
from taken j
