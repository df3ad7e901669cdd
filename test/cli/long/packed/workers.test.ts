// Reports of workers, which PostgreSQL never compresses in this column; together they are too large to be read.
import { long, testPackedRows } from "./packed-rows.ts";

testPackedRows(
  "workers",
  `insert into worker._private_workers (id, last_heartbeat_at, metadata)
   select 'w-' || n, now() + interval '1 hour', jsonb_build_object('pad', left(${long}, 65536))
   from generate_series(1, 1500) as n`,
  ["counts", "others"],
);
