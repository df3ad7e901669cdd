-- Upgrades from version 1 to 2. Version 2 stores the numbers of a rehearsal as values with a precision, the number of
-- jobs that no longer existed when the operation reached them, and the numbers of jobs that an undo skipped, by reason.

--- change _private_operations
alter table :schema._private_operations
  drop column expected,
  -- Jobs that matched at the boundary (max_id and before), and those that would be changed: JSON of domain/value.ts.
  add column matched json,
  add column expected json,
  add column skipped_gone bigint not null default 0,
  add column undo_key_taken bigint not null default 0,
  add column undo_changed bigint not null default 0,
  add column undo_gone bigint not null default 0,
  add column undo_locked bigint not null default 0;

--- change _private_operation_rows
-- Why an undo skipped the job; null: the job was not skipped, or the undo has not reached it.
alter table :schema._private_operation_rows add column undo_outcome "char";
-- In version 1, the outcome `g` meant that the job had changed since the boundary (column `before`). Now `c` means
-- this, and `g` means that the job no longer existed.
update :schema._private_operation_rows set outcome = 'c' where outcome = 'g';
-- The index leaves out the jobs that the operation has changed (`d`), which can be a million.
create index _private_operation_rows_left_idx
  on :schema._private_operation_rows (operation_id, outcome, job_id) where outcome <> 'd';
create index _private_operation_rows_undo_idx
  on :schema._private_operation_rows (operation_id, undo_outcome, job_id)
  where undo_outcome is not null;

--- change _private_rehearsals
-- Rehearsals of version 1 have another form. They can be deleted, because a rehearsal is valid for only 15 minutes.
delete from :schema._private_rehearsals;
