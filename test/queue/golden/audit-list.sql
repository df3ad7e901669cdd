  select pg_catalog.to_regclass($2::text) is not null
    and pg_catalog.bool_and(coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass(name), 'insert'), false)) as is_there
  from pg_catalog.unnest($1::text[]) as named (name);

  select id, entry as json
  from "worker"._private_audit
  where $1::bigint is null or id < $1::bigint
  order by id desc
  limit $2::int
