-- From version 3 to 4: the transactions that were open at the preview.

--- change _private_operations
-- The times at which these transactions began: created_at of jobs that they commit later.
alter table :schema._private_operations add column open_since timestamptz[];
