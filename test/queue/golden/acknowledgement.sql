select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with living as materialized (
  select workers.id,
    coalesce(workers.metadata ->> 'pauses_applied'::text = (select pg_catalog.count(*)::text || ' '::text || coalesce(pg_catalog.sum(pg_catalog.hashtextextended(
    scope || ' '::text || pg_catalog.left(name, 512) || ' '::text || pg_catalog.floor(extract(epoch from paused_at) * 1000000::numeric)::text, 0)), 0)::text from "worker"._private_pauses), false) as has_acknowledged
  from "worker"._private_workers as workers
  where pg_catalog.octet_length(workers.id) <= 4096::int and not (coalesce(workers.metadata ? 'recovered_at'::text, false) or ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end)
), missing as (
  select id from living where not has_acknowledged order by id limit 100
)
select pg_catalog.count(*) filter (where has_acknowledged)::int as acknowledged,
  pg_catalog.count(*) filter (where not has_acknowledged)::int as waiting,
  (select coalesce(pg_catalog.json_agg(id order by id), '[]')::text from missing) as waiting_for,
  pg_catalog.pg_current_xact_id_if_assigned() is not null as is_written
from living
