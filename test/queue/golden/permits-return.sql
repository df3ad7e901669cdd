with returned as (
  update "worker"._private_limit_permits set permits = 0, in_use = 0, wanted = 0, short_since = null, exchange = $3::bigint
  where limit_id = $1::int and worker_id = $2::text and exchange <= $3::bigint returning limit_id
)
select pg_catalog.pg_notify('worker:permits', limit_id::text || ' free'::text) from returned where exists (
  select from "worker"._private_limit_permits where limit_id = $1::int and wanted > permits)
