-- The step from version 2 to 3. From now on the report of a worker has at most 256 KiB, and is never
-- compressed. A page reads the reports of all workers, within a budget, so their size must be known before
-- they are read. The table is locked until the step ends. That is short, because the table has only one row
-- for each worker.

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
