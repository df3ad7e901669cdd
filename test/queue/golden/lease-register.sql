with earlier as (
  select coalesce(pg_catalog.min((workers.metadata ->> 'steady_since_ms'::text)::float8), extract(epoch from pg_catalog.now())::float8 * 1000::float8) as since_ms from "worker"._private_workers as workers
  where workers.last_heartbeat_at between pg_catalog.now() - $3::float8 * interval '1 millisecond' and pg_catalog.now()
  and pg_catalog.jsonb_typeof(workers.metadata -> 'steady_since_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'steady_since_ms'::text) <= 25
), registered as (
  insert into "worker"._private_workers (id, last_heartbeat_at, metadata)
  select $1::text, pg_catalog.now(), $2::jsonb || pg_catalog.jsonb_build_object('steady_since_ms', since_ms) from earlier
  returning tableoid::int8 as table_oid
)
select greatest(0, extract(epoch from pg_catalog.now())::float8 * 1000::float8 - since_ms) as uptime_ms, extract(epoch from pg_catalog.now())::float8 * 1000::float8 as now_ms, table_oid::float8
from earlier, registered
