select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with deleted as (
  delete from "worker"._private_limits where name = $1::text returning name, pg_catalog.pg_notify('worker:control', 'all'), pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1))
), ended as (
  update "worker"._private_back_offs set until = pg_catalog.now()
  where scope = 'limit' and name in (select name from deleted) and until > pg_catalog.now()
)
select 1 from deleted
