select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with old as materialized (
  select * from "worker"._private_limits where name = $1::text
), stored as (
  insert into "worker"._private_limits as l
    (name, scope, match, concurrency, rate, period_ms, burst, source, set_by)
  select $1::text, $2::text, $3::text, $4::int, $5::int, $6::bigint, $7::int, 'user', $8::text
  where exists (select from old) or (select pg_catalog.count(*) from "worker"._private_limits) < 1000
  on conflict (name) do update set
    match = excluded.match, concurrency = excluded.concurrency, rate = excluded.rate,
    period_ms = excluded.period_ms, burst = excluded.burst, source = excluded.source,
    set_by = excluded.set_by, set_at = pg_catalog.now(),
    revision = (pg_catalog.abs(l.revision) + 1) * case when l.match <> excluded.match or l.concurrency is null
      or l.revision < 2 and l.set_at > pg_catalog.now() - interval '2.5 seconds' then -1 else 1 end
  where l.scope = excluded.scope
    and (l.match, l.concurrency, l.rate, l.period_ms, l.burst)
      is distinct from (excluded.match, excluded.concurrency, excluded.rate, excluded.period_ms, excluded.burst)
  returning pg_catalog.pg_notify('worker:control', 'all'), pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1))
), behind as materialized (
  select rates.limit_id, rates.key from "worker"._private_rates as rates
  where rates.limit_id in (select id from old where scope = $2::text) and rates.tat > pg_catalog.now()
    + $7::int::float8 * $6::bigint::float8 / $5::int::float8 * interval '1 millisecond'
  order by rates.limit_id, rates.key for update
), emptied as (
  update "worker"._private_rates as rates set tat = pg_catalog.now()
    + $7::int::float8 * $6::bigint::float8 / $5::int::float8 * interval '1 millisecond'
  from behind where rates.limit_id = behind.limit_id and rates.key = behind.key
)
select exists (select from stored) as is_changed,
  exists (select from old where scope <> $2::text) as is_other,
  not exists (select from old) and not exists (select from stored) as is_missed,
  (select pg_catalog.count(*) from "worker"._private_limits) >= 1000 as is_full
