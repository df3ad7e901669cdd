-- A queue in an incident: many scheduled jobs, thousands of jobs that failed with the same error, a queue that a stale
-- worker has locked, and a job that crashes its workers. {} stands for the schema's name.
insert into {}._private_tasks (identifier)
select name from unnest(array['send_email', 'charge_card', 'sync_account', 'render_pdf', 'import_rows']) as name
on conflict do nothing;
insert into {}._private_job_queues (queue_name)
select 'tenant-' || lpad(n::text, 3, '0') from generate_series(1, 200) as n
union all select 'crm:acme';
-- Scheduled jobs.
insert into {}._private_jobs (task_id, payload, run_at, created_at, updated_at)
select tasks.id, json_build_object('n', n, 'to', 'user-' || n || '@example.com'),
  now() + (n % 86400) * interval '1 second' + interval '1 minute', now() - interval '2 hours', now() - interval '2 hours'
from generate_series(1, $scheduled) as n, {}._private_tasks as tasks where tasks.identifier = 'send_email';
-- Thousands of jobs that failed with one error within the last half hour, and 40 jobs that failed with another error
-- five hours ago.
insert into {}._private_jobs (task_id, payload, attempts, max_attempts, last_error, run_at, created_at, updated_at)
select tasks.id, json_build_object('n', n, 'amount', n % 977, 'region', 'eu-west-1'), 25, 25,
  'GatewayError: HTTP 503 from https://pay.example/charge/' || n || E'\n    at charge (/app/tasks/charge.js:23:5)',
  now() - (n % 1700) * interval '1 second' + exp(10) * interval '1 second', now() - interval '2 hours',
  now() - (n % 1700) * interval '1 second'
from generate_series(1, $failures) as n, {}._private_tasks as tasks where tasks.identifier = 'charge_card';
insert into {}._private_jobs (task_id, payload, attempts, max_attempts, last_error, run_at, created_at, updated_at)
select tasks.id, json_build_object('page', n), 25, 25, 'RangeError: page ' || n || ' of 3',
  now() - interval '5 hours' + exp(10) * interval '1 second', now() - interval '9 hours', now() - interval '5 hours'
from generate_series(1, 40) as n, {}._private_tasks as tasks where tasks.identifier = 'render_pdf';
-- A worker that is alive, and a stale worker, whose last heartbeat was two hours ago.
insert into {}._private_workers (id, last_heartbeat_at, started_at, metadata) values
  ('worker-alive', now() + interval '1 day', now() - interval '1 day', '{"threshold_ms":30000,"task_identifiers":["send_email","charge_card","sync_account","render_pdf","import_rows"],"hostname":"app-1"}'),
  ('worker-dead', now() - interval '2 hours', now() - interval '1 day', '{"threshold_ms":30000,"hostname":"app-2"}');
-- The queue that the stale worker has locked: a running job, and the jobs that wait for it.
insert into {}._private_jobs (task_id, job_queue_id, payload, run_at, created_at, updated_at)
select tasks.id, queues.id, json_build_object('n', n), now() - interval '2 hours' + n * interval '1 second',
  now() - interval '3 hours', now() - interval '3 hours'
from generate_series(1, 120) as n, {}._private_tasks as tasks, {}._private_job_queues as queues
where tasks.identifier = 'sync_account' and queues.queue_name = 'crm:acme';
update {}._private_job_queues set locked_at = now() - interval '2 hours', locked_by = 'worker-dead'
where queue_name = 'crm:acme';
update {}._private_jobs set locked_at = now() - interval '2 hours', locked_by = 'worker-dead', attempts = 1
where id = (select min(jobs.id) from {}._private_jobs as jobs join {}._private_job_queues as queues
  on queues.id = jobs.job_queue_id where queues.queue_name = 'crm:acme');
-- The job whose attempts crash their workers.
insert into {}._private_jobs (task_id, payload, attempts, max_attempts, last_error, run_at, created_at, updated_at, key)
select tasks.id, '{"file":"dump-0001.csv"}', 17, 25, 'Recovered 17 times in a row: its worker was silent',
  now() + interval '40 minutes', now() - interval '1 day', now() - interval '3 minutes', 'import:dump-0001'
from {}._private_tasks as tasks where tasks.identifier = 'import_rows';
