with released as (delete from "worker"._private_limit_permits where worker_id = $1::text returning limit_id)
select pg_catalog.pg_notify('worker:permits', limit_id::text || ' free'::text) from released
