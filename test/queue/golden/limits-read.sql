select l.id, pg_catalog.left(l.name, 512) as name, l.scope, pg_catalog.left(l.match, 512) as match, l.concurrency, l.rate, l.period_ms::text, l.burst, l.source, pg_catalog.left(l.set_by, 512) as set_by,
  pg_catalog.floor(extract(epoch from l.set_at) * 1000000::numeric)::text as set_us, pg_catalog.abs(l.revision) as revision,
  pg_catalog.floor(extract(epoch from b.until) * 1000000::numeric)::text as until_us,
  ((extract(epoch from b.until)::float8 - extract(epoch from pg_catalog.now())::float8) * 1000::float8) as left_ms, pg_catalog.left(b.reason, 2000) as reason
from "worker"._private_limits l
left join lateral (
  select until, reason from "worker"._private_back_offs
  where scope = 'limit' and name = l.name and until > pg_catalog.now()
  order by until desc limit 1) b on true
order by l.id limit 1000
