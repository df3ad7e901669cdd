-- From version 1 to 2: what the rehearsal said as values, what was gone at its turn, and what an undo
-- has left as it was, by reason.

--- change _private_operations
alter table :schema._private_operations
  drop column expected,
  -- Jobs that matched at the boundary, and those of them that were to be changed: JSON of domain/value.ts.
  add column matched json,
  add column expected json,
  add column skipped_gone bigint not null default 0,
  add column undo_key_taken bigint not null default 0,
  add column undo_changed bigint not null default 0,
  add column undo_gone bigint not null default 0,
  add column undo_locked bigint not null default 0;

--- change _private_operation_rows
-- Why an undo left the job as it is; null: it did not, or has not come to it.
alter table :schema._private_operation_rows add column undo_outcome "char";
-- `g` now says gone; what has changed since the boundary is `c`.
update :schema._private_operation_rows set outcome = 'c' where outcome = 'g';
-- A few among a million: nothing that went well is in these.
create index _private_operation_rows_left_idx
  on :schema._private_operation_rows (operation_id, outcome, job_id) where outcome <> 'd';
create index _private_operation_rows_undo_idx
  on :schema._private_operation_rows (operation_id, undo_outcome, job_id)
  where undo_outcome is not null;

--- change _private_rehearsals
-- Good for 15 minutes, and of another form.
delete from :schema._private_rehearsals;
