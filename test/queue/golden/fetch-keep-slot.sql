update "worker"._private_queue_slots set locked_by = $1::text, locked_at = pg_catalog.now()
where queue_id = -$2::bigint and slot = (
  select pg_catalog.min(slot) from "worker"._private_queue_slots where queue_id = -$2::bigint and locked_by is null)
