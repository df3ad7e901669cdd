// Test data for the page: limits of tasks and of named queues, with running and waiting jobs, permits of workers, slots
// of queues, back-offs and a pause.

/**
 * Inserts the test data. `sql`: replaces `{}` in a statement by the name of the schema, and runs the statement. The
 * schema must have the extension `limits`.
 */
export async function seedLimits(sql: (text: string) => Promise<unknown>): Promise<void> {
  for (const statement of statements) await sql(statement);
}

const statements = [
  `insert into {}._private_limits (name, scope, match, concurrency, rate, period_ms, burst, source, set_by, set_at)
    values ('payments', 'task', 'charge_card', 40, null, null, null, 'user', 'ana', now() - interval '1 day'),
      ('mail', 'task', 'send_email', null, 1500, 60000, 20, 'user', 'ana', now() - interval '1 hour'),
      ('tenants', 'queue', 'tenant/*', 3, null, null, null, 'code', null, now() - interval '5 days'),
      ('acme', 'queue', 'tenant/acme', null, 100, 60000, 5, 'user', 'ada', now() - interval '9 days'),
      ('pdf', 'task', '*_pdf', 4, 1, 300000, 1, 'code', null, now() - interval '5 days')`,
  `insert into {}._private_tasks (identifier) values ('charge_card'), ('send_email'), ('deliver_webhook')
    on conflict do nothing`,
  `insert into {}._private_job_queues (queue_name, locked_by, locked_at)
    select 'tenant/' || name, 'managed:3', 'infinity'
    from unnest(array['acme', 'globex', 'initech', 'umbrella']) as name`,
  `insert into {}._private_queue_slots (queue_id, slot, locked_by, locked_at)
    select id, slot, case when queue_name = 'tenant/globex' or slot = 1 and queue_name = 'tenant/initech'
        then 'limits-a' end, now()
    from {}._private_job_queues, generate_series(1, 3) as slot where queue_name like 'tenant/%'`,
  `insert into {}._private_jobs (task_id, job_queue_id)
    select tasks.id, queues.id from {}._private_tasks as tasks, {}._private_job_queues as queues,
      generate_series(1, 310) as n
    where identifier = 'deliver_webhook'
      and (queue_name = 'tenant/acme' or n <= 4 and queue_name = 'tenant/globex')`,
  `insert into {}._private_workers (id, started_at, last_heartbeat_at, metadata)
    select 'limits-' || name, now() - interval '3 days', now(),
      '{"threshold_ms": 31536000000, "concurrency": 16, "task_identifiers": ["charge_card", "send_email", "deliver_webhook"]}'
    from unnest(array['a', 'b', 'c', 'd']) as name`,
  `insert into {}._private_limit_permits (limit_id, worker_id, permits, in_use, wanted)
    select limits.id, workers.id, 10, 10 - ascii(right(workers.id, 1)) % 4, 16
    from {}._private_limits as limits, {}._private_workers as workers
    where limits.name = 'payments' and workers.id like 'limits-%'`,
  `insert into {}._private_back_offs (scope, name, began_at, until, reason, job_id, task)
    select 'queue', 'tenant/acme', now() - n * interval '9 minutes' - interval '1 minute',
      now() - n * interval '9 minutes' + interval '2 minutes', '429 from hooks.acme.example', 918201 - n * 317,
      'deliver_webhook'
    from generate_series(0, 5) as n`,
  `insert into {}._private_pauses (scope, name, reason, paused_by, resume_at)
    select scope, name, reason, null, until from {}._private_back_offs where until > now()`,
  `update {}._private_job_queues set locked_by = 'paused:429 from hooks.acme.example'
    where queue_name = 'tenant/acme'`,
  `insert into {}._private_jobs (task_id, locked_by, locked_at, attempts)
    select tasks.id, permits.worker_id, now() - n * interval '0.7 seconds', 1
    from {}._private_limit_permits as permits
    join {}._private_tasks as tasks on tasks.identifier = 'charge_card'
    cross join lateral generate_series(1, permits.in_use) as n`,
  `update {}._private_workers as workers set metadata = metadata || jsonb_build_object('running_job_ids',
      (select jsonb_agg(jobs.id) from {}._private_jobs as jobs where jobs.locked_by = workers.id))
    where id like 'limits-%'`,
];
