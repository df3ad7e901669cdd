with made as (
  insert into "worker"._private_rates (limit_id, key, tat)
  select id, $2::text, pg_catalog.now() from "worker"._private_limits where id = $1::int
  on conflict (limit_id, key) do nothing
)
select 1 from "worker"._private_limits where id = $1::int
