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

copy "worker"._private_jobs (task_id, payload, run_at, job_queue_id, priority) from stdin (format binary)
