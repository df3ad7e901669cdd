delete from "worker"._private_workers
where last_heartbeat_at < pg_catalog.now() - $1::float8 * interval '1 millisecond'
