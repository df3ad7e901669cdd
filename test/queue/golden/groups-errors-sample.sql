  select sampled.place::int as place, job.*
  from unnest($3::bigint[]) with ordinality as sampled (page, place)
  cross join lateral (
      select jobs.id, jobs.task_id,
      jobs.job_queue_id as queue_id, jobs.locked_by, jobs.priority,
      left(jobs.last_error, 300) as error_start,
      date_part('epoch', greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= now() + exp(least(jobs.attempts, 10)) * interval '1 second'
      then jobs.run_at - exp(least(jobs.attempts, 10)) * interval '1 second' end)) as failed_s,
      null::text as marks,
      case when $1::int is null then jobs.payload end as payload,
      case when $1::int is null then jobs.last_error end as last_error from "worker"._private_jobs as jobs
      where jobs.ctid >= ('(' || sampled.page || ',0)')::tid
        and jobs.ctid < ('(' || (sampled.page + 1) || ',0)')::tid
        and jobs.last_error is not null and (jobs.task_id = any($4::int[]))
      offset 0
  ) as job
  limit $2::int;

  select
    class.relname as index_name,
    am.amname as method,
    i.indisvalid and i.indisready and i.indislive as is_usable,
    (
      select json_agg(a.attname order by k.place)
      from unnest(i.indkey::int2[]) with ordinality as k (number, place)
      left join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
    ) as columns,
    i.indnkeyatts::int as key_count,
    (
      select json_agg(o.opcname order by k.place)
      from unnest(i.indclass::oid[]) with ordinality as k (id, place)
      join pg_catalog.pg_opclass o on o.oid = k.id
    ) as operator_classes,
    i.indexprs is null and not exists (
      select from unnest(i.indoption::int2[]) as option where option <> 0
    ) as is_plain,
    pg_get_expr(i.indpred, i.indrelid) as predicate,
    pg_relation_size(i.indexrelid) as bytes
  from pg_catalog.pg_index i
  join pg_catalog.pg_class class on class.oid = i.indexrelid
  join pg_catalog.pg_am am on am.oid = class.relam
  where i.indrelid = (
    select c.oid from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1::text and c.relname = '_private_jobs'
  )
  order by class.relname;

select id, identifier as name from "worker"._private_tasks where id = any($1::int[])
