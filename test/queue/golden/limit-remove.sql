select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with deleted as (delete from "worker"._private_limits where name = $1::text returning pg_catalog.pg_notify('worker:control', pg_catalog.random()::text), pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1)))
select 1 from deleted
