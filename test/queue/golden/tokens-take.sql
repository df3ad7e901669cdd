with rate as materialized (
  select tat, least(greatest(tat, pg_catalog.now()), pg_catalog.now() + $5::float8 * $4::float8 * interval '1 millisecond') as base
  from "worker"._private_rates where limit_id = $1::int and key = $2::text for update
), room as materialized (
  select tat, base, $5::float8 - ((extract(epoch from base)::float8 - extract(epoch from pg_catalog.now())::float8) * 1000::float8) / $4::float8 as tokens
  from rate
), given as materialized (
  select tat, base, tokens, least($3::int, greatest(0::float8, pg_catalog.floor(tokens + 0.000001::float8))::int) as count from room
), taken as (
  update "worker"._private_rates set tat = given.base + given.count::float8 * $4::float8 * interval '1 millisecond'
  from given where limit_id = $1::int and key = $2::text and (given.count > 0 or given.tat > given.base)
)
select count, (1::float8 - (tokens - count::float8)) * $4::float8 as next_ms,
  pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as now_us
from given
