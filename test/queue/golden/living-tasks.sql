select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as present;

  select said.part as task_identifiers, said.is_cut, pg_catalog.count(*)::int as workers,
    pg_catalog.to_json((pg_catalog.array_agg(said.id order by said.id))[1:5])::text as ids
  from (
    select workers.id, (case when case when pg_catalog.pg_column_size(workers.metadata) > 262144::int then false
      when pg_catalog.pg_column_compression(workers.metadata) is not null then pg_catalog.octet_length(workers.metadata::text) <= 262144::int
      else true end then workers.metadata end) -> 'task_identifiers'::text as part,
      workers.metadata -> 'tasks_cut'::text is not distinct from 'true'::jsonb as is_cut
    from "worker"._private_workers as workers
    where not (coalesce(workers.metadata ? 'recovered_at'::text, false) or ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end)
    limit 10000
  ) as said
  group by said.part, said.is_cut
