// The workers that announce themselves by heartbeats.
import { validate } from "../base/validate.ts";
import type { Database, Statement } from "../database/database.ts";
import { query } from "../database/database.ts";
import { milliseconds, toDate } from "./job-row.ts";
import { hasWorkerTable, STALE_AFTER_S, seconds } from "./worker-table.ts";

export interface ActiveWorker {
  readonly workerId: string;
  readonly lastHeartbeatAt: Date;
  readonly startedAt: Date;
  /** The JSON text of what the worker says of itself. */
  readonly metadataText: string | null;
  /** No heartbeat for `staleAfter_s`, by the database's clock. */
  readonly isStale: boolean;
}

interface ActiveWorkerRow {
  readonly id: string;
  readonly last_heartbeat_at_ms: string;
  readonly started_at_ms: string;
  readonly metadata: string | null;
  readonly is_stale: boolean;
}

/**
 * Workers with a heartbeat row, ascending by id, at most 1,000; none on a database without our
 * additions. `staleAfter_s`: seconds, 0–31,536,000, default 300. Throws InputError out of range.
 */
export async function listActiveWorkers(
  db: Database,
  options: { readonly staleAfter_s?: number | undefined } = {},
): Promise<ActiveWorker[]> {
  const staleAfter_s = validate(seconds, options.staleAfter_s ?? STALE_AFTER_S);
  if (!(await hasWorkerTable(db))) return [];
  const rows = await query<ActiveWorkerRow>(db, activeWorkersSql, [staleAfter_s]);
  return rows.map((row) => ({
    workerId: row.id,
    lastHeartbeatAt: toDate(row.last_heartbeat_at_ms),
    startedAt: toDate(row.started_at_ms),
    metadataText: row.metadata,
    isStale: row.is_stale,
  }));
}

const activeWorkersSql: Statement = (schema) => `
  select
    id,
    ${milliseconds("last_heartbeat_at")} as last_heartbeat_at_ms,
    ${milliseconds("started_at")} as started_at_ms,
    metadata,
    last_heartbeat_at < now() - $1::float8 * interval '1 second' as is_stale
  from ${schema}._private_workers
  order by id
  limit 1000`;
