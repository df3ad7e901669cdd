select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

delete from "worker"._private_workers as workers
where ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > greatest($1::float8, case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end, case when pg_catalog.jsonb_typeof(workers.metadata -> 'resilient_threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'resilient_threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'resilient_threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end)
and ($2::boolean or case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end <= (
  select pg_catalog.max(extract(epoch from pg_catalog.now())::float8 * 1000::float8 - case when pg_catalog.jsonb_typeof(workers.metadata -> 'steady_since_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'steady_since_ms'::text) <= 25
      then greatest((workers.metadata ->> 'steady_since_ms'::text)::float8, 0::float8) end)
  from "worker"._private_workers as workers where ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) between 0::float8 and case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end / 2::float8
))
