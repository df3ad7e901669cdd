  select id, identifier from "worker"._private_tasks
  where $1::text = '' or strpos(lower(identifier), lower($1::text)) > 0
  order by identifier limit 20000;

select coalesce(has_table_privilege(to_regclass($1::text), 'select'), false) as present;

  select floor(extract(epoch from now()) * 1000000) as now_us, null as id, false as is_found, false as is_silent;

  select pg_relation_size(to_regclass($1::text)) / current_setting('block_size')::int
    <= 4096 as is_small;

  select locked_by as worker_id,
    count(*) filter (where is_job)::int as jobs,
    count(*) filter (where not is_job)::int as queues,
    floor(extract(epoch from min(locked_at)) * 1000000) as oldest_us
  from (
    select locked_by, locked_at, false as is_job
    from "worker"._private_job_queues
    where locked_by is not null and locked_at is not null
  ) as locks
  group by locked_by
  limit 10000
