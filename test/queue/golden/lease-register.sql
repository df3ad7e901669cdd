with earlier as (
  select coalesce(min((workers.metadata ->> 'steady_since_ms')::float8), extract(epoch from now())::float8 * 1000) as since_ms from "worker"._private_workers as workers
  where workers.last_heartbeat_at between now() - $3::float8 * interval '1 millisecond' and now()
  and jsonb_typeof(workers.metadata -> 'steady_since_ms') = 'number'
      and length(workers.metadata ->> 'steady_since_ms') <= 25
), registered as (
  insert into "worker"._private_workers (id, last_heartbeat_at, metadata)
  select $1::text, now(), $2::jsonb || jsonb_build_object('steady_since_ms', since_ms) from earlier
)
select greatest(0, extract(epoch from now())::float8 * 1000 - since_ms) as uptime_ms from earlier
