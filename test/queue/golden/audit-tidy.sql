  select exists (select from pg_catalog.pg_attribute where attrelid = pg_catalog.to_regclass($2::text)::oid
      and attname = $3::text::name and not attisdropped)
    and pg_catalog.bool_and(coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass(name), 'insert'), false)) as is_there
  from pg_catalog.unnest($1::text[]) as named (name);

  with deleted as (
    delete from "worker"._private_audit
    where id = any(array(
      select id from "worker"._private_audit
      where at < pg_catalog.now() - interval '90 days'
      or id <= (select pg_catalog.max(id) from "worker"._private_audit) - 100000
      order by id
      limit 5000
    ))
    returning 1
  )
  select pg_catalog.count(*)::int as deleted from deleted
