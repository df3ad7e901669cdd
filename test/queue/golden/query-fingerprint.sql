select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

  select (pg_catalog.pg_relation_size(pg_catalog.to_regclass($1::text))
    / pg_catalog.current_setting('block_size')::int) <= 200 as is_whole, sampled.task_id, tasks.identifier as task, sampled.start
  from (select) as one
  left join (
    select jobs.task_id, pg_catalog.left(jobs.last_error, 600) as start
    from "worker"._private_jobs as jobs tablesample system (least(100::float8, 100::float8 * 200::float8
      / greatest(pg_catalog.pg_relation_size(pg_catalog.to_regclass($1::text))
    / pg_catalog.current_setting('block_size')::int, 1)::float8)::real)
    where jobs.last_error is not null
    order by pg_catalog.random()
    limit 2000
  ) as sampled on true
  left join "worker"._private_tasks as tasks on tasks.id = sampled.task_id;

-- group:03c75bf1b726
select jobs.id, null::text as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and (jobs.last_error like $2::text)
order by jobs.id
