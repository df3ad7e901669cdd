  select exists (select from pg_catalog.pg_attribute where attrelid = pg_catalog.to_regclass($2::text)::oid
      and attname = $3::text::name and not attisdropped)
    and pg_catalog.bool_and(coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass(name), 'insert'), false)) as is_there
  from pg_catalog.unnest($1::text[]) as named (name);

  insert into "worker"._private_audit (operation_id, entry) values ($1::bigint, $2::json)
