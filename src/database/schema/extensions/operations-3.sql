-- From version 2 to 3: an operation may be limited to the first matches.

--- change _private_operations
alter table :schema._private_operations
  -- The maximum number of jobs to change, lowest ids first; null: all that match.
  add column most bigint;
