select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'delete'), false) as may_delete;

with old as materialized (
  select key from "worker"._private_throttles
  where until <= pg_catalog.now()
  order by until
  limit $1::int
  for update skip locked
), deleted as (
  delete from "worker"._private_throttles where key = any(array(select key from old)) returning 1
)
select pg_catalog.count(*)::int as deleted from deleted
