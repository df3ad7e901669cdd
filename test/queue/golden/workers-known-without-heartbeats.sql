select coalesce(has_table_privilege(to_regclass($1::text), 'select'), false) as present;

  select floor(extract(epoch from now()) * 1000000) as now_us, null as id, false as is_found, false as is_silent;

  select pg_relation_size(to_regclass($1::text)) / current_setting('block_size')::int
    <= 4096 as is_small;

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
