-- The table of schedules: cron entries that can be changed while workers run. Each row is a schedule. extension.ts
-- explains the lines that begin with three dashes.

--- create _private_schedules
create table :schema._private_schedules (
  identifier text primary key,
  task text not null,
  pattern text not null,
  time_zone text not null default 'UTC',
  payload json not null default '{}',
  -- Options of its jobs, the backfill period, and the last tick.
  spec jsonb not null default '{}',
  -- Since when the schedule is paused and adds no jobs; null: it is not.
  paused_at timestamptz,
  jitter_ms int not null default 0 check (jitter_ms >= 0),
  overlap text not null default 'allow' check (overlap in ('allow', 'skip', 'replace')),
  -- The number of definitions. A tick that was computed from an earlier one adds no job.
  revision int not null default 1,
  -- The first tick that is not handled.
  next_at timestamptz
);
create index _private_schedules_due_idx
  on :schema._private_schedules (next_at, identifier) where paused_at is null;
