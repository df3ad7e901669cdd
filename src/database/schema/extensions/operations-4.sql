-- From version 3 to 4: an operation stores the start times of the transactions that were open at its preview.

--- change _private_operations
-- These times are also the created_at of jobs that the transactions have added.
alter table :schema._private_operations add column open_since timestamptz[];
