  select
    current_user::text as role,
    pg_catalog.pg_get_userbyid(space.nspowner)::text as owner,
    pg_catalog.pg_get_userbyid(made.relowner)::text as table_owner,
    coalesce(pg_catalog.has_schema_privilege(space.oid, 'create'), false) as may_create,
    coalesce(pg_catalog.pg_has_role(made.relowner, 'usage'), true)
      and coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($4::text), 'insert'), true) as may_change,
    made.oid is not null and exists (select from pg_catalog.pg_attribute where attrelid = pg_catalog.to_regclass($3::text)::oid
      and attname = $5::text::name and not attisdropped) as is_current
  from (values (1)) as one (n)
  left join pg_catalog.pg_namespace as space on space.nspname = $1::text
  left join pg_catalog.pg_class as made on made.oid = pg_catalog.to_regclass($2::text)::oid
