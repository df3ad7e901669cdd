-- Tables for operations and the audit trail. They store the progress of each operation, the outcome and the earlier
-- state of its jobs, the rehearsals, and the entries of the audit trail. extension.ts explains the lines that
-- begin with three dashes.

--- create _private_operations
create table :schema._private_operations (
  id bigint generated always as identity primary key,
  query text not null,
  -- The time to which ages in the query refer, in microseconds since 1970.
  now_us text not null,
  action text not null,
  changes json not null default '{}',
  performed_by text,
  source text not null,
  state text not null,
  -- The process that runs the operation, and the end of its lease; after that the operation is interrupted.
  owner text,
  lease_until timestamptz,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  -- Only jobs up to this id that have not changed since this time are affected.
  max_id bigint not null,
  before timestamptz not null,
  expected bigint,
  after_id bigint not null default 0,
  done bigint not null default 0,
  skipped_locked bigint not null default 0,
  skipped_changed bigint not null default 0,
  -- How many jobs have rows in _private_operation_rows; beyond a limit no more are stored.
  kept bigint not null default 0,
  rate int,
  canary int,
  is_canary_over boolean not null default false,
  rate_per_s int,
  eta_s int,
  undo_after_id bigint,
  undone bigint not null default 0,
  error text
);
-- At most one operation of a schema is in progress.
create unique index _private_operations_at_work_idx
  on :schema._private_operations ((true))
  where state in ('running', 'canary', 'undoing');

--- create _private_operation_rows
create table :schema._private_operation_rows (
  operation_id bigint not null,
  job_id bigint not null,
  -- The job's updated_at (left_at) and attempts (left_attempts) after the change, to detect later changes.
  left_at timestamptz,
  -- The earlier state. The payload is json, never jsonb: it must be restored byte for byte.
  run_at timestamptz,
  created_at timestamptz,
  updated_at timestamptz,
  task_id int,
  job_queue_id int,
  revision int,
  attempts smallint,
  max_attempts smallint,
  priority smallint,
  left_attempts smallint,
  outcome "char" not null,
  last_error text,
  payload json,
  key text,
  flags jsonb,
  -- The names may have been cleaned up by the time the job is restored.
  task_identifier text,
  queue_name text,
  primary key (operation_id, job_id)
);

--- create _private_rehearsals
create table :schema._private_rehearsals (
  id text primary key,
  expires_at timestamptz not null,
  rehearsal json not null
);

--- create _private_audit
create table :schema._private_audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  operation_id bigint,
  entry json not null
);
