// Tests that the admin answers requests while the rows of locks, workers, cron entries, schedules, pauses, limits,
// back-offs, the audit trail and operations have large values. Most of these values are copied from the temporary table
// `packed`, where they are already compressed, so that PostgreSQL does not compress each of them again.
import { long, testPackedRows } from "./packed-rows.ts";

testPackedRows(
  "names, trail and operations",
  `create temporary table packed as select ${long} as text,
     json_build_object('at', now(), 'source', 'admin', 'action', 'retry', 'changes', '{}'::json, 'message', left(${long}, 1000000)) as entry,
     json_build_object('reason', ${long}) as changes;
   update worker._private_jobs set locked_at = now(), locked_by = packed.text from packed where attempts = 0;
   insert into worker._private_job_queues (queue_name, locked_at, locked_by)
   select 'q' || n, now(), packed.text from packed, generate_series(1, 1500) as n;
   insert into worker._private_workers (id, last_heartbeat_at)
   select 'w-' || n || left(${long}, 200000), now() from generate_series(1, 200) as n;
   insert into worker._private_known_crontabs (identifier, known_since)
   select n || left(${long}, 200000), now() from generate_series(1, 200) as n;
   insert into worker._private_schedules (identifier, task, pattern, payload, spec)
   select 's' || n, case n % 2 when 0 then packed.text else 't' end, '0 3 * * *',
     case n % 3 when 0 then to_json(packed.text) else '{}' end,
     case n % 5 when 0 then jsonb_build_object('queueName', packed.text) else '{}' end
   from packed, generate_series(1, 1500) as n;
   insert into worker._private_pauses (scope, name, reason, paused_by)
   select 'task', 'p' || n, packed.text, packed.text from packed, generate_series(1, 1500) as n;
   insert into worker._private_limits (name, scope, match, concurrency, set_by)
   select 'l' || n, 'queue', 'q' || n || case n % 2 when 0 then packed.text else '' end, 3, packed.text
   from packed, generate_series(1, 1000) as n;
   insert into worker._private_back_offs (scope, name, began_at, until, reason)
   select 'limit', 'l' || n, now(), now() + interval '1 hour', packed.text from packed, generate_series(1, 1500) as n;
   insert into worker._private_audit (entry) select packed.entry from packed, generate_series(1, 1500);
   insert into worker._private_operations (query, now_us, action, changes, source, state, finished_at, max_id, before, error)
   select 'is:failed', '1700000000000000', 'fail', packed.changes, 'admin', 'done', now(), 100, now(),
     case when n % 2 = 0 then packed.text end from packed, generate_series(1, 1500) as n`,
  ["others"],
  {
    extensions: ["schedules", "limits"],
    paths: ["/api/cron-entry?name=s1", "/api/limits/l1"],
  },
);
