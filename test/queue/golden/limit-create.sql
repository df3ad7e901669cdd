select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

select l.id, pg_catalog.left(l.name, 512) as name, l.scope, pg_catalog.left(l.match, 512) as match, l.concurrency, l.rate, l.period_ms::text, l.burst, l.source, pg_catalog.left(l.set_by, 512) as set_by,
  pg_catalog.floor(extract(epoch from l.set_at) * 1000000::numeric)::text as set_us, pg_catalog.abs(l.revision) as revision,
  pg_catalog.floor(extract(epoch from b.until) * 1000000::numeric)::text as until_us,
  ((extract(epoch from b.until)::float8 - extract(epoch from pg_catalog.now())::float8) * 1000::float8) as left_ms, pg_catalog.left(b.reason, 2000) as reason
from "worker"._private_limits l
left join lateral (
  select until, reason from "worker"._private_back_offs
  where scope = 'limit' and name = l.name and until > pg_catalog.now()
  order by until desc limit 1) b on true
order by l.id limit 1000;

insert into "worker"._private_limits (name, scope, match, concurrency, rate, period_ms, burst, source)
select $1::text, $2::text, $3::text, $4::int, $5::int, $6::bigint, $7::int, 'code'
where (select pg_catalog.count(*) from "worker"._private_limits) < 1000
on conflict (name) do nothing
returning pg_catalog.pg_notify('worker:control', 'all'), pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1))
