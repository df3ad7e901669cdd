select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as present;

  select said.version, pg_catalog.count(*)::int as workers, pg_catalog.min(said.id) as worker_id
  from (
    select workers.id, pg_catalog.left((case when case when pg_catalog.pg_column_size(workers.metadata) > 262144::int then false
      when pg_catalog.pg_column_compression(workers.metadata) is not null then pg_catalog.octet_length(workers.metadata::text) <= 262144::int
      else true end then workers.metadata end) ->> 'version'::text, 64) as version
    from "worker"._private_workers as workers
    where not (coalesce(workers.metadata ? 'recovered_at'::text, false) or ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end)
    limit 10000
  ) as said
  where said.version is not null
  group by said.version
  order by workers desc, said.version
  limit 20
