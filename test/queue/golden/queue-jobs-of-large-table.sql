  select pg_catalog.pg_relation_size(pg_catalog.to_regclass($1::text)) / pg_catalog.current_setting('block_size')::int
    <= 4096 as is_small;

  select
    (select id from "worker"._private_tasks where identifier = $1::text) as task_id,
    (select id from "worker"._private_job_queues where queue_name = $2::text) as queue_id;

  with recursive priorities (priority, place) as (
    (select priority, 1 from "worker"._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < 32
  )
  select priority from priorities where priority is not null order by priority;

select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

  with 
  bound as materialized (
    select pg_catalog.min(id) as last, pg_catalog.count(*) as rows
    from (
      select jobs.id
      from "worker"._private_jobs as jobs
      where jobs.id <= $1::bigint
      order by jobs.id desc
      limit $2::bigint
    ) as chunk
  ), found as materialized (
    select jobs.id
    from "worker"._private_jobs as jobs
    where jobs.id <= $1::bigint and jobs.id >= (select last from bound)
    and (true) and jobs.job_queue_id = $5::int
    order by jobs.id desc
    limit $3::bigint + $4::bigint
  )
  select bound.last::text, bound.rows::text, (select pg_catalog.count(*)::text from found) as matched,
    pg_catalog.array_to_string(array(
      select id from found order by id desc offset $3::bigint
    ), ',') as ids
  from bound;

  select jobs.id, tasks.identifier as task, jobs.priority, jobs.attempts, jobs.max_attempts,
    pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric) as run_at_us,
    pg_catalog.floor(extract(epoch from jobs.created_at) * 1000000::numeric) as created_at_us,
    pg_catalog.floor(extract(epoch from jobs.locked_at) * 1000000::numeric) as locked_at_us
  from (select pg_catalog.unnest($1::bigint[]) as id) as found
  join "worker"._private_jobs as jobs on jobs.id = found.id
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
