// SQL for the reports of many workers in one statement, with limits for their number and total size.
import { worstBytes } from "../../database/unpacked.ts";
import { MAX_UNPACKED } from "./large-values.ts";

/** The maximum length of a worker's id, in bytes: enough for this library's ids. Rows with longer ids are ignored. */
const MAX_WORKER_ID_LENGTH = 4_096;
export const MAX_WORKERS = 10_000;

/**
 * Returns a sub-select of heartbeat rows, to be named `workers`: the 10,000 rows with the latest heartbeats that match
 * `which`. `metadata` has the report of a row. The shortest reports are read, 16 MB in total; the other rows have null
 * in `metadata` and true in `is_cut`. A report that is not an object is null, too. `report_bytes`: the sum of the sizes
 * up to this report, shortest first.
 *
 * This library's table never compresses reports, so their size on disk is their size. A compressed report, as in
 * another library's table, counts with the largest size that it can have after decompression. Each expression on a
 * stored report would read all of it again, so `||` turns it into a value in memory.
 */
export const reportedWorkers = (s: string, which = "true"): string => `(
    select summed.id, summed.last_heartbeat_at, summed.started_at, summed.report_bytes,
      summed.report_bytes > ${MAX_UNPACKED}::bigint as is_cut,
      case when summed.report_bytes <= ${MAX_UNPACKED}::bigint and pg_catalog.jsonb_typeof(summed.metadata) = 'object'
        then summed.metadata || '{}'::jsonb end as metadata
    from (
      select latest.*,
        pg_catalog.sum(latest.bytes) over (order by latest.bytes, latest.id rows unbounded preceding)::bigint as report_bytes
      from (
        select workers.id, workers.last_heartbeat_at, workers.started_at, workers.metadata,
          coalesce(${worstBytes("workers.metadata")}, 0) as bytes
        from ${s}._private_workers as workers
        where pg_catalog.octet_length(workers.id) <= ${MAX_WORKER_ID_LENGTH}::int and ${which}
        order by workers.last_heartbeat_at desc limit ${MAX_WORKERS}
      ) as latest
    ) as summed
  )`;
