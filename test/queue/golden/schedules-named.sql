select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

select identifier from "worker"._private_schedules where identifier = any($1::text[])
