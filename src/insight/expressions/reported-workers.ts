// SQL that reads the reports of many workers in one statement. A report is the column `metadata` of a heartbeat row.
import { worstBytes } from "../../database/unpacked.ts";
import { MAX_UNPACKED } from "./large-values.ts";

/** In bytes. Rows with longer ids are ignored. */
const MAX_WORKER_ID_LENGTH = 4_096;
export const MAX_WORKERS = 10_000;

/**
 * Returns a sub-select of heartbeat rows, to be named `workers`. `which`: a condition on a row `workers`. Reports are
 * read from the shortest on, at most 16 MB in total. `metadata`: the report; null if the report is not an object or is
 * not read. `is_cut`: whether the report is not read. `report_bytes`: the total size of this report and of all shorter
 * reports.
 *
 * A compressed report counts with the largest size that the report can have after decompression. `||` copies a report
 * into memory, so that expressions on the copy do not read the stored report again.
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
