-- From version 3 to 4: the transactions that were open at the preview.

--- change _private_operations
-- Their starts: the times of the jobs that they commit later.
alter table :schema._private_operations add column open_since timestamptz[];
