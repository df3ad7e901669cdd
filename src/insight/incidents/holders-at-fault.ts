// Reads queues that have been locked for longer than a minute, paused queues, and workers that are not responding.

import { type Database, query, type Statement } from "../../database/database.ts";
import { isPausedQueue, isPseudoLock, lockHolder } from "../../queue/sql/lock.ts";
import { dateOf, microseconds } from "../../queue/sql/moments.ts";
import { isNotResponding, isRecovered } from "../../queue/workers/stale-workers.ts";
import { reportedWorkers } from "../expressions/reported-workers.ts";
import { type Holder, readHolders, unknownHolder } from "../why/holders.ts";

export interface LockedQueue {
  readonly id: number;
  readonly name: string;
  /** When the queue was locked, in milliseconds since the epoch. */
  readonly lockedMs: number;
  readonly holder: Holder;
}

const MAX_QUEUES = 500;
const LOCKED_FOR_S = 60;

const queuesSql: Statement = (s) => `
  select id, queue_name, ${lockHolder("queues")} as locked_by, ${microseconds("locked_at")} as locked_us
  from ${s}._private_job_queues as queues
  where locked_at < pg_catalog.now() - interval '${LOCKED_FOR_S} seconds' and not ${isPseudoLock("queues")}
  order by locked_at limit ${MAX_QUEUES}`;

/** Returns at most 500 queues that a worker locked more than a minute ago, longest locked first. */
export async function readLockedQueues(db: Database, hasWorkers: boolean): Promise<LockedQueue[]> {
  const rows = await query<{
    readonly id: number;
    readonly queue_name: string;
    readonly locked_by: string | null;
    readonly locked_us: string;
  }>(db, queuesSql);
  const ids = new Set(rows.flatMap((row) => row.locked_by ?? []));
  const holders = await readHolders(db, hasWorkers, [...ids]);
  return rows.map((row) => ({
    id: row.id,
    name: row.queue_name,
    lockedMs: dateOf(row.locked_us).getTime(),
    holder: holders.get(row.locked_by ?? "") ?? unknownHolder(row.locked_by ?? "unknown"),
  }));
}

const pausedSql: Statement = (s) => `
  select id, queue_name from ${s}._private_job_queues as queues
  where not is_available and ${isPausedQueue("queues")}
  order by queue_name limit ${MAX_QUEUES}`;

/** Returns the ids of at most 500 paused queues, by name. */
export async function readPausedQueues(db: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await query<{ readonly id: number; readonly queue_name: string }>(db, pausedSql);
  return new Map(rows.map((row) => [row.queue_name, row.id]));
}

export interface StaleWorker {
  readonly workerId: string;
  /** The time of its last heartbeat, in milliseconds since the epoch. */
  readonly lastHeartbeatMs: number;
  /** The number of running jobs in its last report; null if not reported. */
  readonly running: number | null;
}

const liveSql: Statement = (s) =>
  `select exists (select from ${s}._private_workers as workers where not ${isNotResponding}) as is_alive`;

/** Whether a worker is responding. `hasWorkers`: whether the table of heartbeats exists. */
export async function hasLiveWorker(db: Database, hasWorkers: boolean): Promise<boolean> {
  if (!hasWorkers) return false;
  const [row] = await query<{ readonly is_alive: boolean }>(db, liveSql);
  return row?.is_alive === true;
}

const MAX_WORKERS = 100;

const staleSql: Statement = (s) => `
  select id, ${microseconds("last_heartbeat_at")} as heard_us,
    case when pg_catalog.jsonb_typeof(metadata -> 'running_jobs'::text) = 'number'
      then least((metadata ->> 'running_jobs'::text)::numeric, 1e9)::float8 end as running
  from ${reportedWorkers(s)} as workers
  where ${isNotResponding} and not coalesce(${isRecovered}, false)
  order by last_heartbeat_at limit ${MAX_WORKERS}`;

export async function readStaleWorkers(db: Database, hasWorkers: boolean): Promise<StaleWorker[]> {
  if (!hasWorkers) return [];
  const rows = await query<{
    readonly id: string;
    readonly heard_us: string;
    readonly running: number | null;
  }>(db, staleSql);
  return rows.map(({ id, heard_us: us, running }) => ({
    workerId: id,
    lastHeartbeatMs: dateOf(us).getTime(),
    running,
  }));
}

/**
 * Returns how many workers of `holders` are not in `known`. Such a worker may be running a long job, or may have ended.
 */
export function countUnknown(
  holders: ReadonlyMap<string, unknown> | null,
  known: readonly { readonly workerId: string }[],
): number {
  const withHeartbeats = new Set(known.map(({ workerId }) => workerId));
  return [...(holders?.keys() ?? [])].filter((id) => !withHeartbeats.has(id)).length;
}
