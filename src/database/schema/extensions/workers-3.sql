-- From version 2 to 3: what a worker says about itself is at most 256 KiB unpacked, because a page
-- unpacks what all workers say. The table is locked until the step ends: it has a row for each worker.

--- change _private_workers
-- The strongest lock comes first: a heartbeat in between would wait for this step, and it for that.
alter table :schema._private_workers
  add constraint _private_workers_metadata_256_kib
  check (pg_catalog.octet_length(metadata::text) <= 262144) not valid;
-- A worker that lives writes it again with what changes next.
update :schema._private_workers set metadata = '{}'
where pg_catalog.octet_length(metadata::text) > 262144;
alter table :schema._private_workers validate constraint _private_workers_metadata_256_kib;
