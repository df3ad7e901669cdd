// The workers that announce themselves by heartbeats.
import { validate } from "../../base/validate.ts";
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import { dateOf, microseconds, timeText } from "../sql/moments.ts";
import { isSilent } from "./stale-workers.ts";
import { hasWorkerTable, upToAYear } from "./worker-table.ts";

/** A worker by its heartbeat row. */
export interface ActiveWorker {
  readonly workerId: string;
  readonly lastHeartbeatAt: Date;
  readonly startedAt: Date;
  /** The same with their microseconds, as RFC 3339 text. */
  readonly lastHeartbeatAtText: string;
  readonly startedAtText: string;
  /** The JSON text of what the worker says of itself. */
  readonly metadataText: string | null;
  /** No heartbeat for as long as it said that could be, or for `staleAfterMs` where that is given. */
  readonly isStale: boolean;
}

interface ActiveWorkerRow {
  readonly id: string;
  readonly last_heartbeat_at_us: string;
  readonly started_at_us: string;
  readonly metadata: string | null;
  readonly is_stale: boolean;
}

/**
 * Workers with a heartbeat row, ascending by id, at most 1,000; none on a database without our
 * additions. `staleAfterMs`: milliseconds, up to a year; by default each is judged by what it says of
 * itself, and 300,000 where it says nothing. Throws InputError out of range.
 */
export async function listActiveWorkers(
  db: Database,
  options: { readonly staleAfterMs?: number | undefined } = {},
): Promise<ActiveWorker[]> {
  const { staleAfterMs } = options;
  const given = staleAfterMs === undefined ? null : validate(upToAYear, staleAfterMs) / 1_000;
  if (!(await hasWorkerTable(db))) return [];
  const rows = await query<ActiveWorkerRow>(db, activeWorkersSql, [given]);
  return rows.map((row) => ({
    workerId: row.id,
    lastHeartbeatAt: dateOf(row.last_heartbeat_at_us),
    startedAt: dateOf(row.started_at_us),
    lastHeartbeatAtText: timeText(row.last_heartbeat_at_us),
    startedAtText: timeText(row.started_at_us),
    metadataText: row.metadata,
    isStale: row.is_stale,
  }));
}

const activeWorkersSql: Statement = (schema) => `
  select
    id,
    ${microseconds("last_heartbeat_at")}::text as last_heartbeat_at_us,
    ${microseconds("started_at")}::text as started_at_us,
    metadata::text,
    coalesce(last_heartbeat_at < pg_catalog.now() - $1::float8 * interval '1 second', ${isSilent}) as is_stale
  from ${schema}._private_workers as workers
  order by id
  limit 1000`;
