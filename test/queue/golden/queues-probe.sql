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

  select queue.id,
    count(*) filter (where waiting.is_due)::int as due,
    count(*) filter (where not waiting.is_due)::int as ahead,
    floor(extract(epoch from min(waiting.run_at) filter (where waiting.is_due)) * 1000) as oldest_ms,
    floor(extract(epoch from now()) * 1000) as now_ms
  from unnest($1::int[]) as queue (id)
  left join lateral (
    select jobs.run_at <= now() as is_due, jobs.run_at
    from "worker"._private_jobs as jobs
    where jobs.is_available and jobs.job_queue_id is not null
      and jobs.job_queue_id = queue.id
    order by jobs.priority, jobs.run_at
    limit 201
  ) as waiting on true
  group by queue.id
