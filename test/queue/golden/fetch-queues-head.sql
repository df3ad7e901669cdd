with recursive level (priority) as (
  select $5::smallint
  union all
  select (select j.priority from "worker"._private_jobs j
    where j.is_available  and j.priority > level.priority
    order by j.priority limit 1)
  from level where level.priority is not null
), without_queue as materialized (
  select f.* from level cross join lateral (
    select j.ctid, j.id, j.job_queue_id, j.priority, j.run_at from "worker"._private_jobs j
    where j.is_available and j.run_at <= pg_catalog.now() and j.job_queue_id is null and j.priority = level.priority
      and j.run_at >= case when level.priority = $5::smallint
                           then pg_catalog.to_timestamp($6::float8) else '-infinity' end
      and j.task_id = any(array(
    select t.id from "worker"._private_tasks t where t.identifier = any($1::text[])))   and j.id <> all($9::bigint[]) and (-j.job_queue_id::bigint = any($9::bigint[])) is not true
    order by j.run_at limit $2::int for update skip locked) f
  where level.priority is not null limit $2::int
), last_without_queue as (
  select priority, run_at from without_queue
  where (select pg_catalog.count(*) from without_queue) >= $2::int
  order by priority desc, run_at desc limit 1
), candidate as materialized (
  select c.* from level cross join lateral (
    select j.ctid, j.id, j.job_queue_id, j.task_id, j.priority, j.run_at
    from "worker"._private_jobs j
    where j.is_available and j.run_at <= pg_catalog.now() and j.job_queue_id is not null and j.priority = level.priority
      and j.run_at < coalesce((select case when last_without_queue.priority > level.priority
          then 'infinity' else last_without_queue.run_at end from last_without_queue), 'infinity')
      and j.task_id = any(array(
    select t.id from "worker"._private_tasks t where t.identifier = any($1::text[])))
      and exists (select from "worker"._private_job_queues q
    where q.id = j.job_queue_id and q.is_available)
       and j.id <> all($9::bigint[]) and (-j.job_queue_id::bigint = any($9::bigint[])) is not true
    order by j.run_at limit $2::int) c
  where level.priority is not null
    and level.priority <= coalesce((select priority from last_without_queue), 32767)
    limit $2::int
), wanted_queues as materialized (
  select pg_catalog.array_agg(distinct job_queue_id) as ids from candidate
), queue_lock as materialized (
  select id from "worker"._private_job_queues
  where is_available and id = any((select ids from wanted_queues)::int[])
  order by id for update skip locked
), queue_run as materialized (
  select ctid, id, job_queue_id, priority, run_at from (
    select c.*, pg_catalog.row_number() over in_order as place,
      pg_catalog.sum(coalesce(speed.share, 'infinity')) over in_order as part
    from candidate c left join (
      select t.id, ($8::float8[])[pg_catalog.array_position($1::text[], t.identifier)] as share
      from "worker"._private_tasks t where t.identifier = any($1::text[])
    ) speed on speed.id = c.task_id
    where job_queue_id in (select id from queue_lock)
    window in_order as (partition by job_queue_id order by priority, run_at, c.id
      rows unbounded preceding)) ranked
  where place = 1 or part <= 1::float8 and place <= greatest($7::int,
      $2::int / (select greatest(pg_catalog.count(*), 1) from queue_lock))
), locked_run as materialized (
  select j.ctid, j.id, j.job_queue_id, j.priority, j.run_at from "worker"._private_jobs j
  where j.ctid = any(array(select ctid from queue_run)) and j.is_available and j.run_at <= pg_catalog.now()
  for update skip locked
), left_out as materialized (
  select * from queue_run where ctid = any(array(
    select ctid from queue_run except select ctid from locked_run))
), picked as materialized (
  select * from (select * from without_queue union all select * from locked_run run
    where not exists (select from left_out where left_out.job_queue_id = run.job_queue_id
      and (left_out.priority, left_out.run_at, left_out.id) < (run.priority, run.run_at, run.id))) both_kinds
  order by priority, run_at, id limit $2::int
)
select j.id::text, (-j.job_queue_id)::text as queue from "worker"._private_jobs j
where j.ctid = any(array(select ctid from picked))
and $3::text is not null and $4::bigint[] is not null
limit 1
