-- The pauses, and the requests to cancel jobs. extension.ts explains the lines with three dashes.

--- create _private_pauses
create table :schema._private_pauses (
  -- `queue`: the lock of the queue's row is the pause, and this row has the reason, time and author of the pause.
  -- `task`, or `all` with the name `*`: this row is the pause.
  scope text not null check (scope in ('queue', 'task', 'all')),
  name text not null,
  paused_at timestamptz not null default now(),
  -- null: the pause lasts until a user ends it.
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
