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

select distinct on (backs.scope, backs.name) backs.scope, backs.name,
  exists (select from "worker"._private_pauses as pauses
    where pauses.scope = backs.scope and pauses.name = backs.name and pauses.resume_at = backs.until) as is_pause
from "worker"._private_back_offs as backs
where backs.until > pg_catalog.now() and (backs.scope = 'limit' and backs.name = $1::text
  or backs.scope = $2::text and backs.name like $3::text)
order by backs.scope, backs.name, backs.until desc
limit 1000;

with ended as (
  update "worker"._private_back_offs as backs set until = pg_catalog.now()
  from rows from (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) as target (scope, name)
  where backs.scope = target.scope and backs.name = target.name and backs.until > pg_catalog.now()
  returning 1
)
select pg_catalog.pg_notify('worker:control', 'all'), pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1))
from ended limit 1
