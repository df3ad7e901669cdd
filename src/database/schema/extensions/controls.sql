-- The pauses, and the requests to cancel jobs. extension.ts explains the lines with three dashes.

--- create _private_pauses
create table :schema._private_pauses (
  -- `queue`: the lock of the queue's row is the pause, this row has its reason, time and author. `task`, and
  -- `all` with the name `*`: this row is the pause.
  scope text not null check (scope in ('queue', 'task', 'all')),
  name text not null,
  paused_at timestamptz not null default now(),
  -- null: until it is resumed by hand.
  resume_at timestamptz,
  reason text,
  paused_by text,
  primary key (scope, name)
);

--- create _private_cancellations
create table :schema._private_cancellations (
  job_id bigint primary key,
  requested_at timestamptz not null default now(),
  reason text,
  requested_by text
);
