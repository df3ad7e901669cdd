with recursive level (priority) as (
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
    select t.id from "worker"._private_tasks t where t.identifier = any($1::text[])))   and j.id <> all($7::bigint[]) and (-j.job_queue_id::bigint = any($7::bigint[])) is not true
    order by j.run_at limit $2::int for update skip locked) f
  where level.priority is not null limit $2::int
)
select j.id::text, (-j.job_queue_id)::text as queue from "worker"._private_jobs j
where j.ctid = any(array(select ctid from without_queue))
and $3::text is not null and $4::bigint[] is not null
limit 1
