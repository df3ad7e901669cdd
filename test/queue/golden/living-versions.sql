select coalesce(has_table_privilege(to_regclass($1::text), 'select'), false) as present;

  select said.version, count(*)::int as workers, min(said.id) as worker_id
  from (
    select workers.id, left((case when pg_column_size(workers.metadata) <= 262144
      then workers.metadata end) ->> 'version', 64) as version
    from "worker"._private_workers as workers
    where not (coalesce(workers.metadata ? 'recovered_at', false) or (extract(epoch from now() - workers.last_heartbeat_at)::float8 * 1000) > case when jsonb_typeof(workers.metadata -> 'threshold_ms') = 'number'
      and length(workers.metadata ->> 'threshold_ms') <= 25
      then greatest((workers.metadata ->> 'threshold_ms')::float8, null::float8)
      else coalesce(null::float8, 300000) end)
    limit 10000
  ) as said
  where said.version is not null
  group by said.version
  order by workers desc, said.version
  limit 20
