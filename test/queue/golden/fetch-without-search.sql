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
    where j.is_available and j.run_at <= pg_catalog.now() and j.job_queue_id is null and j.priority = level.priority
      and j.run_at >= case when level.priority = $5::smallint
                           then pg_catalog.to_timestamp($6::float8) else '-infinity' end
      and j.task_id = any(array(
    select t.id from "worker"._private_tasks t where t.identifier = any($1::text[]) and not exists (
      select from "worker"._private_pauses p
      where (p.scope = 'all' or p.scope = 'task' and p.name = t.identifier)
      and (p.resume_at is null or p.resume_at > pg_catalog.now()))))  
    order by j.run_at limit $2::int for update skip locked) f
  where level.priority is not null limit $2::int
), taken as (
  update "worker"._private_jobs j
  set attempts = j.attempts + 1, locked_by = $3::text, locked_at = pg_catalog.now()
  where j.ctid = any(array(select ctid from without_queue))
  returning j.id, j.task_id, j.job_queue_id, j.payload,
    j.priority, j.run_at, j.attempts as attempts, j.max_attempts,
    nullif(j.created_at, j.run_at) as created_at,
    case when j.key is not null or j.revision > 0 or j.flags is not null or j.last_error is not null
      then pg_catalog.json_build_array(j.id::text, j.key, j.revision, j.flags, j.last_error) end as rare
)
select pg_catalog.date_part('epoch', pg_catalog.now()) as now_s,
  null::boolean as queues,
  case when (select pg_catalog.count(*) from done) < pg_catalog.cardinality($4::bigint[]) then
    case when case when exists (
        select from "worker"._private_jobs j where j.id = any($4::bigint[]) and j.locked_by = $3::text
        and j.id not in (select id from done)
      ) then 'a row was left as it is'::text else '0'::text end::int = 0 then
    array(select pg_catalog.unnest($4::bigint[]) except select id from done)::text end end as lost,
  
  pg_catalog.array_agg(j.id)::text as ids,
  pg_catalog.encode(pg_catalog.string_agg(pg_catalog.timestamptz_send(j.run_at), ''), 'base64') as run_ats,
  pg_catalog.string_agg(case when pg_catalog.octet_length(j.payload::text) > 8192 then '' else j.payload::text end,
    E'\x1f') as payloads,
  case when pg_catalog.min(j.task_id) = pg_catalog.max(j.task_id) then pg_catalog.min(j.task_id)::text else (select pg_catalog.array_to_json(pg_catalog.array_agg(task_id))::text from taken) end as task_ids,
  (select pg_catalog.json_object_agg(t.id, t.identifier)::text
    from "worker"._private_tasks t where t.id = any(array(select task_id from taken))) as task_names,
  case when pg_catalog.min(j.priority) = pg_catalog.max(j.priority) then pg_catalog.min(j.priority)::text else (select pg_catalog.array_to_json(pg_catalog.array_agg(priority))::text from taken) end as priorities,
  case when pg_catalog.min(j.attempts) = pg_catalog.max(j.attempts) then pg_catalog.min(j.attempts)::text else (select pg_catalog.array_to_json(pg_catalog.array_agg(attempts))::text from taken) end as attempts,
  case when pg_catalog.min(j.max_attempts) = pg_catalog.max(j.max_attempts) then pg_catalog.min(j.max_attempts)::text else (select pg_catalog.array_to_json(pg_catalog.array_agg(max_attempts))::text from taken) end as max_attempts,
  null as queue_ids,
  null as queue_names,
  case when pg_catalog.count(j.created_at) > 0 then (select pg_catalog.array_to_json(pg_catalog.array_agg(pg_catalog.date_part('epoch', created_at)))::text from taken) end as created_ats,
  (pg_catalog.json_agg(j.rare) filter (where j.rare is not null))::text as rare
from taken j
