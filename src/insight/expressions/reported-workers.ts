// SQL that reads the reports of many workers in one statement, with limits for their number and total size.
import { worstBytes } from "../../database/unpacked.ts";
import { MAX_UNPACKED } from "./large-values.ts";

/** The maximum length of a worker's id, in bytes: enough for this library's ids. Rows with longer ids are ignored. */
const MAX_WORKER_ID_LENGTH = 4_096;
export const MAX_WORKERS = 10_000;

/**
 * Returns a sub-select of heartbeat rows, to be named `workers`. It has the rows that match `which`, a condition on a
 * row `workers`. If more than 10,000 rows match, it has those with the latest heartbeats. `metadata` is the report of a
 * row, or null if the report is not an object. The shortest reports are read, at most 16 MB in total. In a row whose
 * report is not read, `metadata` is null and `is_cut` is true. `report_bytes` is the total size of this report and of
 * all shorter ones.
 *
 * From version 3 of the extension `workers` on, reports are stored uncompressed, so their stored size is their size. A
 * compressed report, as in an older table or in another library's, counts with the largest size that it can have after
 * decompression. Each expression on a stored report would read the whole report again, so `||` copies it into memory.
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
