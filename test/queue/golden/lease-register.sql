insert into "worker"._private_workers (id, last_heartbeat_at, metadata)
values ($1::text, now(), $2::jsonb)
