// Lists the workers that have a heartbeat row.
import * as v from "valibot";
import { strict, validate } from "../../base/validate.ts";
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import { hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import { dateOf, microseconds, timeText } from "../../queue/sql/moments.ts";
import { isNotResponding, reportedNumber } from "../../queue/workers/stale-workers.ts";
import { upToAYear } from "../../queue/workers/worker-table.ts";
import { reportedWorkers } from "../expressions/reported-workers.ts";

/** A worker that sends heartbeats. */
export interface ActiveWorker {
  /** The id of the worker, as in `locked_by`. */
  readonly workerId: string;
  /** The time of the worker's last heartbeat. */
  readonly lastHeartbeatAt: Date;
  /** The time at which the worker started. */
  readonly startedAt: Date;
  /** `lastHeartbeatAt` as RFC 3339 text with microseconds. */
  readonly lastHeartbeatAtText: string;
  /** `startedAt` as RFC 3339 text with microseconds. */
  readonly startedAtText: string;
  /** The JSON text of the worker's report; null if the report is missing, omitted or not a JSON object. */
  readonly metadataText: string | null;
  /** Whether the report is omitted: all reports together may exceed 2 MB, and this report is one of the longest. */
  readonly isMetadataOmitted: boolean;
  /** The number of jobs that the worker is running; null if unknown. */
  readonly running: number | null;
  /** The number of jobs completed or skipped per minute, over about the last minute; null if unknown. */
  readonly donePerMin: number | null;
  /** The number of attempts that failed per minute, over about the last minute; null if unknown. */
  readonly failedPerMin: number | null;
  /**
   * With the option `staleAfterMs`: whether the last heartbeat is older than this time. Without the option:
   * whether the last heartbeat is older than the worker's own threshold, or the worker's jobs have been recovered.
   */
  readonly isStale: boolean;
}

interface ActiveWorkerRow {
  readonly id: string;
  readonly last_heartbeat_at_us: string;
  readonly started_at_us: string;
  readonly metadata: string | null;
  readonly is_left_out: boolean;
  readonly running: number | null;
  readonly done_per_min: number | null;
  readonly failed_per_min: number | null;
  readonly is_stale: boolean;
}

const optionsSchema = strict({ staleAfterMs: v.optional(upToAYear) });

/**
 * Returns at most 1,000 workers with a heartbeat row, by id; none if the schema lacks the table of heartbeats, or the
 * role may not read the table. Default of `staleAfterMs`: each worker's own threshold, or 300,000 for a worker that
 * reports no threshold. Throws InputError if `staleAfterMs` is not from 0 to a year.
 */
export async function listActiveWorkers(
  db: Database,
  options: { readonly staleAfterMs?: number | undefined } = {},
): Promise<ActiveWorker[]> {
  const { staleAfterMs } = validate(optionsSchema, options);
  const staleAfterS = staleAfterMs === undefined ? null : staleAfterMs / 1_000;
  if (!(await hasWorkerTable(db))) return [];
  const rows = await query<ActiveWorkerRow>(db, activeWorkersSql, [staleAfterS]);
  return rows.map((row) => ({
    workerId: row.id,
    lastHeartbeatAt: dateOf(row.last_heartbeat_at_us),
    startedAt: dateOf(row.started_at_us),
    lastHeartbeatAtText: timeText(row.last_heartbeat_at_us),
    startedAtText: timeText(row.started_at_us),
    metadataText: row.metadata,
    isMetadataOmitted: row.is_left_out,
    running: row.running,
    donePerMin: row.done_per_min,
    failedPerMin: row.failed_per_min,
    isStale: row.is_stale,
  }));
}

/** The maximum total size of the reports in a result, in bytes. */
const MAX_SENT = 2 * 1_048_576;

const activeWorkersSql: Statement = (schema) => `
  select
    id,
    ${microseconds("last_heartbeat_at")}::text as last_heartbeat_at_us,
    ${microseconds("started_at")}::text as started_at_us,
    case when report_bytes <= ${MAX_SENT}::bigint then metadata end::text as metadata,
    report_bytes > ${MAX_SENT}::bigint as is_left_out,
    ${reportedNumber("running_jobs")} as running,
    ${reportedNumber("done_per_min")} as done_per_min,
    ${reportedNumber("failed_per_min")} as failed_per_min,
    coalesce(last_heartbeat_at < pg_catalog.now() - $1::float8 * interval '1 second', ${isNotResponding}) as is_stale
  from ${reportedWorkers(schema)} as workers
  order by id
  limit 1000`;
