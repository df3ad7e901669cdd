-- The step from version 2 to 3 of the extension `workers`. From version 3 on, the report of a worker (the
-- column `metadata`) has at most 256 KiB, and is never compressed. The admin reads the reports of many workers
-- at once, up to a total size, so the size of a report must be known before the report is read. The table is
-- locked until the step ends. The step is short, because the table has only one row for each worker.

--- change _private_workers
-- The statement with the strongest lock comes first. Otherwise a heartbeat between two statements could
-- deadlock with this step.
alter table :schema._private_workers
  alter column metadata set storage external,
  add constraint _private_workers_metadata_256_kib
  check (pg_catalog.octet_length(metadata::text) <= 262144) not valid;
-- Reports that are too large are emptied. A running worker writes its report again when the report changes.
update :schema._private_workers set metadata = '{}'
where pg_catalog.octet_length(metadata::text) > 262144;
update :schema._private_workers set metadata = metadata::text::jsonb
where pg_catalog.pg_column_compression(metadata) is not null;
alter table :schema._private_workers validate constraint _private_workers_metadata_256_kib;
