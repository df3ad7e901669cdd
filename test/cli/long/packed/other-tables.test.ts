// Locks, cron entries, the audit trail and operations. The large values are compressed once and copied.
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
   insert into worker._private_audit (entry) select packed.entry from packed, generate_series(1, 1500);
   insert into worker._private_operations (query, now_us, action, changes, source, state, finished_at, max_id, before, error)
   select 'is:failed', '1700000000000000', 'fail', packed.changes, 'admin', 'done', now(), 100, now(),
     case when n % 2 = 0 then packed.text end from packed, generate_series(1, 1500) as n`,
  ["others"],
);
