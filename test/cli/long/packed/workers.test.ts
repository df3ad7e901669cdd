// 1,500 workers with reports of 64 KB. PostgreSQL never compresses their column. The admin does not read all reports,
// because together they are too large.
import { long, testPackedRows } from "./packed-rows.ts";

testPackedRows(
  "workers",
  `insert into worker._private_workers (id, last_heartbeat_at, metadata)
   select 'w-' || n, now() + interval '1 hour', jsonb_build_object('pad', left(${long}, 65536))
   from generate_series(1, 1500) as n`,
  ["counts", "others"],
);
