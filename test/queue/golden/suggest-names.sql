select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  select id as name
  from "worker"._private_workers
  where case when pg_catalog.octet_length(id) <= 4096 then id ilike $1::text else false end 
  group by id
  order by (id ilike $2::text) desc, id
  limit 20
