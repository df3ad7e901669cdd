-- From version 3 to 4: an operation leaves alone what transactions that were open at its preview commit later.

--- change _private_operations
alter table :schema._private_operations
  -- The starts of those transactions. The jobs that they add or change have one of them as created_at or updated_at.
  add column open_since timestamptz[];
