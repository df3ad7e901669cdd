  select pg_catalog.to_regclass($2::text) is not null
    and pg_catalog.bool_and(coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass(name), 'insert'), false)) as is_there
  from pg_catalog.unnest($1::text[]) as named (name);

  insert into "worker"._private_audit (operation_id, entry) values ($1::bigint, $2::json)
