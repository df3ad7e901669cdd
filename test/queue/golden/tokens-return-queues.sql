with unused as materialized (
  select rates.limit_id, rates.key, pg_catalog.sum(limits.period_ms::float8 / limits.rate::float8) as ms
  from rows from (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::float8[])) as given (key, taken_s)
  join "worker"._private_rates as rates on rates.key = given.key
  join "worker"._private_limits as limits on limits.id = rates.limit_id and limits.scope = 'queue'
  where (pg_catalog.date_part('epoch', pg_catalog.now()) - taken_s) * 1000::float8 < limits.period_ms::float8 / limits.rate::float8
  group by rates.limit_id, rates.key
), locked as materialized (
  select rates.* from unused join "worker"._private_rates as rates using (limit_id, key) order by limit_id, key for update of rates
), returned as (
  update "worker"._private_rates as rates set tat = rates.tat - ms * interval '1 millisecond'
  from locked join unused using (limit_id, key) where rates.limit_id = locked.limit_id and rates.key = locked.key returning 1
)
select pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1)) from returned limit 1
