-- From version 2 to 3: an operation may be of the first so many that match.

--- change _private_operations
alter table :schema._private_operations
  -- Most jobs to change, those of the lowest ids; null: all that match.
  add column most bigint;
