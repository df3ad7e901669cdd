-- Limits of concurrency and rate, the permits of workers, the slots of queues, throttles, and back-offs.
-- extension.ts explains the lines with three dashes.

--- create _private_limits
create table :schema._private_limits (
  id int generated always as identity primary key,
  name text not null unique,
  -- `task`: one limit for the jobs of all matching tasks together. `queue`: one for each matching queue.
  scope text not null check (scope in ('task', 'queue')),
  -- A name; each `*` in it matches any text.
  match text not null,
  -- The most jobs that run at once; null: any number.
  concurrency int check (concurrency between 1 and 10000),
  -- At most `rate` jobs start in `period_ms`, and `burst` more at once after a quiet time; null: any number.
  rate int check (rate between 1 and 1000000),
  period_ms bigint check (period_ms between 1 and 86400000),
  burst int check (burst between 1 and 1000000),
  -- `code`: a worker's options created it.
  source text not null default 'user' check (source in ('user', 'code')),
  set_by text,
  set_at timestamptz not null default now(),
  -- How often it was defined, negative while some workers may not apply the newest definition yet.
  revision int not null default 1,
  check ((rate is null) = (period_ms is null) and (rate is null) = (burst is null)),
  check (concurrency is not null or rate is not null)
);

--- create _private_limit_permits
-- Each row has the permits of one worker under one limit. The permits count against the limit until the row is deleted.
-- If nothing else deletes the row, it is deleted together with the worker's row in _private_workers.
create table :schema._private_limit_permits (
  limit_id int not null references :schema._private_limits on delete cascade,
  worker_id text not null references :schema._private_workers on delete cascade,
  permits int not null default 0,
  -- The number of its running jobs at the last exchange (queue/limits/permits.ts).
  in_use int not null default 0,
  wanted int not null default 0,
  -- Since when `wanted` has been above `permits`; null: it is not.
  short_since timestamptz,
  -- Counts the worker's exchanges: one whose answer was lost may be executed after a later one.
  exchange bigint not null default 0,
  primary key (limit_id, worker_id)
);
create index _private_limit_permits_worker_idx on :schema._private_limit_permits (worker_id);

--- create _private_rates
-- The generic cell rate algorithm: `tat` is the theoretical arrival time of the next job. `key`: the queue; empty for
-- a limit of tasks.
create table :schema._private_rates (
  limit_id int not null references :schema._private_limits on delete cascade,
  key text not null,
  tat timestamptz not null,
  primary key (limit_id, key)
);

--- create _private_queue_slots
-- A named queue with a limit has locked_by = 'managed:<slots>' in its row of _private_job_queues, unless it is paused.
-- Each run of the queue locks a row of this table.
create table :schema._private_queue_slots (
  queue_id int not null,
  slot int not null,
  locked_by text,
  locked_at timestamptz,
  served_at timestamptz not null default '-infinity',
  primary key (queue_id, slot)
);
create index _private_queue_slots_locked_by_idx
  on :schema._private_queue_slots (locked_by) where locked_by is not null;

--- create _private_throttles
create table :schema._private_throttles (
  key text primary key,
  until timestamptz not null
);
create index _private_throttles_until_idx on :schema._private_throttles (until);

--- create _private_back_offs
-- The back-offs of tasks, queues and limits. For a task or a queue, a pause with the same end keeps the jobs
-- from starting; when that pause is removed, the back-off is over.
create table :schema._private_back_offs (
  scope text not null check (scope in ('task', 'queue', 'limit')),
  name text not null,
  began_at timestamptz not null default now(),
  until timestamptz not null,
  reason text,
  job_id bigint,
  task text,
  primary key (scope, name, began_at)
);
