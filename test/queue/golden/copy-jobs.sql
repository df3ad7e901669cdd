select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

  with 
  known_identifier as (
    select id, identifier from "worker"._private_tasks where identifier = any($1::text[])
  ), new_identifier as (
    insert into "worker"._private_tasks as known (identifier)
    select name from pg_catalog.unnest($1::text[]) as named (name)
    where name not in (select identifier from known_identifier)
    order by name
    on conflict (identifier) do update set identifier = known.identifier
    returning id, identifier
  ), all_identifier as (
    select * from known_identifier union all select * from new_identifier
  )
  select id, identifier as name from all_identifier;

  with 
  known_queue_name as (
    select id, queue_name from "worker"._private_job_queues where queue_name = any($1::text[])
  ), new_queue_name as (
    insert into "worker"._private_job_queues as known (queue_name)
    select name from pg_catalog.unnest($1::text[]) as named (name)
    where name not in (select queue_name from known_queue_name)
    order by name
    on conflict (queue_name) do update set queue_name = known.queue_name
    returning id, queue_name
  ), all_queue_name as (
    select * from known_queue_name union all select * from new_queue_name
  )
  select id, queue_name as name from all_queue_name;

copy "worker"._private_jobs (task_id, payload, run_at, job_queue_id, priority) from stdin (format binary);

  with lost as materialized (
    select deleted.id, deleted.name
    from rows from (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::text[])) as deleted (id, name)
    where not exists (
      select from "worker"._private_tasks as names where names.id = deleted.id and names.identifier = deleted.name
    )
  ), used as materialized (
    select distinct jobs.task_id as id
    from "worker"._private_jobs as jobs
    where not $3::boolean and exists (select from lost)
    and jobs.task_id = any(array(select id from lost))
  ), due as materialized (
    select id, name from lost where $3::boolean or id in (select id from used)
  ), back as (
    insert into "worker"._private_tasks (id, identifier) overriding system value
    select id, name from due order by name
    on conflict do nothing
    returning id
  ), total as (
    select (select pg_catalog.count(*)::int from back) as rows,
      (select pg_catalog.count(*)::int from due where id not in (select id from back)) as taken
  )
  select total.rows, total.taken, case when total.rows + total.taken > 0 then pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1)) end
  from total;

  with lost as materialized (
    select deleted.id, deleted.name
    from rows from (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::text[])) as deleted (id, name)
    where not exists (
      select from "worker"._private_job_queues as names where names.id = deleted.id and names.queue_name = deleted.name
    )
  ), used as materialized (
    select distinct jobs.job_queue_id as id
    from "worker"._private_jobs as jobs
    where not $3::boolean and exists (select from lost)
    and jobs.job_queue_id = any(array(select id from lost))
  ), due as materialized (
    select id, name from lost where $3::boolean or id in (select id from used)
  ), back as (
    insert into "worker"._private_job_queues (id, queue_name) overriding system value
    select id, name from due order by name
    on conflict do nothing
    returning id
  ), total as (
    select (select pg_catalog.count(*)::int from back) as rows,
      (select pg_catalog.count(*)::int from due where id not in (select id from back)) as taken
  )
  select total.rows, total.taken, case when total.rows + total.taken > 0 then pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1)) end
  from total;

select pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), $1::int))
