  select pg_relation_size(to_regclass($1::text)) / current_setting('block_size')::int
    <= 4096 as is_small;

  with recursive priorities (priority, place) as (
    (select priority, 1 from "worker"._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < 32
  ), head as materialized (
    select head.* from priorities, lateral (
      select jobs.id, jobs.job_queue_id, jobs.priority, jobs.run_at,
        row_number() over (order by jobs.run_at) as place
      from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority = priorities.priority and jobs.run_at <= now()
      order by jobs.run_at limit 10000
    ) as head
  ), found as materialized (
    select jobs.id from head as jobs where jobs.job_queue_id is not null and jobs.job_queue_id = $1::int order by jobs.priority, jobs.run_at, jobs.id limit $2::int
  ), seen as materialized (
    select coalesce(max(place), 0) < 10000
      and (select count(priority) < 32 from priorities) as is_whole
    from head
  )
  select jobs.*, seen.is_whole from seen left join (
  select jobs.id, tasks.identifier as task, jobs.priority, jobs.attempts, jobs.max_attempts,
    floor(extract(epoch from jobs.run_at) * 1000000) as run_at_us,
    floor(extract(epoch from jobs.created_at) * 1000000) as created_at_us,
    floor(extract(epoch from jobs.locked_at) * 1000000) as locked_at_us
  from found
  join "worker"._private_jobs as jobs on jobs.id = found.id
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  ) as jobs on true order by jobs.priority, jobs.run_at_us, jobs.id;

  with newest as materialized (
    select jobs.id, jobs.job_queue_id from "worker"._private_jobs as jobs
    order by jobs.id desc limit 10000
  ), found as materialized (
    select jobs.id from newest as jobs where jobs.job_queue_id is not null and jobs.job_queue_id = $1::int order by jobs.id desc limit $2::int
  ), seen as materialized (select count(*) < 10000 as is_whole from newest)
  select jobs.*, seen.is_whole from seen left join (
  select jobs.id, tasks.identifier as task, jobs.priority, jobs.attempts, jobs.max_attempts,
    floor(extract(epoch from jobs.run_at) * 1000000) as run_at_us,
    floor(extract(epoch from jobs.created_at) * 1000000) as created_at_us,
    floor(extract(epoch from jobs.locked_at) * 1000000) as locked_at_us
  from found
  join "worker"._private_jobs as jobs on jobs.id = found.id
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  ) as jobs on true order by jobs.id desc
