with recursive level (priority) as (
  select '-32768'::smallint
  union all
  select (select j.priority from "worker"._private_jobs j
    where j.is_available  and j.priority > level.priority
    order by j.priority limit 1)
  from level where level.priority is not null
), scanned as materialized (
  select f.task_id from level cross join lateral (
    select j.task_id from "worker"._private_jobs j where j.is_available and j.run_at <= pg_catalog.now() and j.priority = level.priority
    order by j.run_at limit 100000) f
  where level.priority is not null limit 100000
)
select pg_catalog.json_agg(t.identifier)::text as tasks from "worker"._private_tasks t
where t.identifier = any($1::text[]) and not exists (
      select from "worker"._private_pauses p
      where (p.scope = 'all' or p.scope = 'task' and p.name = t.identifier)
      and (p.resume_at is null or p.resume_at > pg_catalog.now()))
  and ((select pg_catalog.count(*) from scanned) >= 100000 or t.id in (select task_id from scanned))
