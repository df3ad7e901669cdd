  select to_regclass($2::text) is not null
    and bool_and(coalesce(has_table_privilege(to_regclass(name), 'insert'), false)) as is_there
  from unnest($1::text[]) as named (name);

  insert into "worker"._private_audit (operation_id, entry) values ($1::bigint, $2::json)
