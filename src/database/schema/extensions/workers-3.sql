-- From version 2 to 3: a worker's report is at most 256 KiB, and it is never packed. A page reads the
-- reports of all workers, within a budget: so their size must be known before they are read. The table is
-- locked until the step ends: it has a row for each worker.

--- change _private_workers
-- The strongest lock comes first: a heartbeat in between would wait for this step, and it for that.
alter table :schema._private_workers
  alter column metadata set storage external,
  add constraint _private_workers_metadata_256_kib
  check (pg_catalog.octet_length(metadata::text) <= 262144) not valid;
-- A worker that lives writes it again with what changes next.
update :schema._private_workers set metadata = '{}'
where pg_catalog.octet_length(metadata::text) > 262144;
update :schema._private_workers set metadata = metadata::text::jsonb
where pg_catalog.pg_column_compression(metadata) is not null;
alter table :schema._private_workers validate constraint _private_workers_metadata_256_kib;
