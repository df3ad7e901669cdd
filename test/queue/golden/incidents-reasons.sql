  select pg_catalog.to_regclass($2::text) is not null
    and pg_catalog.bool_and(coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass(name), 'insert'), false)) as is_there
  from pg_catalog.unnest($1::text[]) as named (name);

  select distinct changes ->> 'reason'::text as reason
  from (
    select changes from "worker"._private_operations
    where action = 'fail'::text order by id desc limit 1000
  ) as failed
  where changes ->> 'reason'::text is not null
