select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

select 1 as is_locked from "worker"._private_limits where name = $1::text for update;

select l.id, l.name, l.scope, l.match, l.concurrency, l.rate, l.period_ms::text, l.burst, l.source, l.set_by,
  pg_catalog.floor(extract(epoch from l.set_at) * 1000000::numeric)::text as set_us, l.revision,
  pg_catalog.floor(extract(epoch from b.until) * 1000000::numeric)::text as until_us,
  pg_catalog.date_part('epoch', b.until - pg_catalog.now()) * 1000::float8 as left_ms, b.reason
from "worker"._private_limits l
left join lateral (
  select until, reason from "worker"._private_back_offs
  where scope = 'limit' and name = l.name and until > pg_catalog.now()
  order by until desc limit 1) b on true
order by l.id limit 1000;

with old as materialized (
  select * from "worker"._private_limits where name = $1::text
), stored as (
  insert into "worker"._private_limits as l
    (name, scope, match, concurrency, rate, period_ms, burst, source, set_by)
  select $1::text, $2::text, $3::text, $4::int, $5::int, $6::bigint, $7::int, $8::text, $9::text
  where exists (select from old) or (select pg_catalog.count(*) from "worker"._private_limits) < 1000
  on conflict (name) do update set
    match = excluded.match, concurrency = excluded.concurrency, rate = excluded.rate,
    period_ms = excluded.period_ms, burst = excluded.burst, source = excluded.source,
    set_by = excluded.set_by, set_at = pg_catalog.now(), revision = l.revision + 1
  where l.scope = excluded.scope
    and (l.match, l.concurrency, l.rate, l.period_ms, l.burst)
      is distinct from (excluded.match, excluded.concurrency, excluded.rate, excluded.period_ms, excluded.burst)
  returning pg_catalog.pg_notify('worker:control', pg_catalog.random()::text), pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1))
)
select exists (select from stored) as is_changed,
  exists (select from old where scope <> $2::text) as is_other,
  not exists (select from old) and not exists (select from stored) as is_full;

select case when $1::text = 'task'
  then exists (select from "worker"._private_tasks where identifier like $2::text)
  else exists (select from "worker"._private_job_queues where queue_name like $2::text) end as is_known
