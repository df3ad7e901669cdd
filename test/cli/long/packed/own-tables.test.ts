// Tests the admin with large rows in the tables that this library adds. The names in these rows are as long as an index
// permits. The options, payloads and reasons are large, but their compressed size is small enough for the admin to read
// them.
import { long, testPackedRows } from "./packed-rows.ts";

testPackedRows(
  "names, options and reasons",
  `create temporary table packed as select ${long} as text, left(${long}, 200000) as name,
     jsonb_build_object('queueName', left(${long}, 690000)) as options,
     json_build_object('a', repeat(left(${long}, 1120000), 5)) as payload;
   insert into worker._private_schedules (identifier, task, pattern, payload, spec, next_at)
   select case when n % 3 = 0 then n || packed.name else 's' || n end, 't', '0 3 * * *',
     case when n % 5 = 0 then packed.payload else '{}' end, packed.options, now()
   from packed, generate_series(1, 1000) as n;
   insert into worker._private_pauses (scope, name, reason)
   select 'task', n || packed.name, packed.text from packed, generate_series(1, 300) as n;
   update worker._private_jobs set locked_at = now(), locked_by = 'w-0' where attempts = 0;
   insert into worker._private_cancellations (job_id, reason, requested_by)
   select jobs.id, packed.text, packed.text from packed, worker._private_jobs as jobs;
   insert into worker._private_workers (id, last_heartbeat_at)
   select 'w-' || n || packed.name, now() + interval '1 hour' from packed, generate_series(1, 300) as n;
   insert into worker._private_limits (name, scope, match, concurrency, rate, period_ms, burst)
   select 'l' || n, case n when 1 then 'task' else 'queue' end, 't*', 3, 5, 1000, 2 from generate_series(1, 20) as n;
   insert into worker._private_limit_permits (limit_id, worker_id, permits, wanted)
   select 1, id, 1, 5 from worker._private_workers;
   insert into worker._private_rates (limit_id, key, tat)
   select limits.id, n || packed.name, now() + interval '1 hour'
   from packed, worker._private_limits as limits, generate_series(1, 50) as n`,
  ["others"],
  {
    extensions: ["schedules", "limits"],
    paths: [
      "/api/cron?sort=-last&limit=500",
      "/api/cron-entry?name=s1",
      "/api/cron-entry?name=s5",
      "/api/schedules?limit=100",
      "/api/limits/l1",
      "/api/limits/l2",
      "/api/jobs?fields=row&limit=500&count=fast",
    ],
  },
);
