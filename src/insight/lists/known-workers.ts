// Lists workers with a heartbeat row (a row of `_private_workers`), and other workers that hold locks:
//
//   stale:   the lease in the row has expired, or the row is marked as recovered (stale-workers.ts)
//   alive:   has a row, and is not stale
//   unknown: has no row, and holds locks; for example a Graphile worker
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import type { Basis } from "../../domain/value.ts";
import { microseconds } from "../../queue/sql/moments.ts";
import { STALE_LOCK_MS } from "../../queue/workers/reset-stale-locks.ts";
import { isNotResponding, reportedNumber } from "../../queue/workers/stale-workers.ts";
import { MAX_WORKERS, reportedWorkers } from "../expressions/reported-workers.ts";
import { type CountedHolders, type LockHolder, lockHolders } from "./lock-holders.ts";

export type WorkerState = "alive" | "stale" | "unknown";

/** How urgent a worker's state is. */
export type WorkerLevel = "ok" | "warn" | "bad";

export interface KnownWorker {
  readonly workerId: string;
  readonly state: WorkerState;
  readonly level: WorkerLevel;
  /** In microseconds since 1970, like `lastHeartbeatAtUs`; null if the worker has no row. */
  readonly startedAtUs: string | null;
  readonly lastHeartbeatAtUs: string | null;
  /** The number of running jobs according to the worker's report; null: not reported. */
  readonly reportedRunning: number | null;
  readonly donePerMin: number | null;
  readonly failedPerMin: number | null;
  /** The locks that the worker holds; null: none was found. */
  readonly locks: LockHolder | null;
}

export interface KnownWorkers {
  readonly workers: readonly KnownWorker[];
  /** Whether `workers` certainly has each matching worker that holds the lock of a job. */
  readonly hasAllHolders: boolean;
  /** The source of the numbers of jobs in `locks`; null: these numbers are unknown. */
  readonly locksBasis: Basis | null;
  /** The database's time in microseconds since 1970. */
  readonly nowUs: string;
}

/**
 * Returns the workers whose id or report (host, versions, tasks) contains `search`, in upper or lower case. `counted`:
 * an earlier count, used if the locked jobs are not read.
 */
export async function knownWorkers(
  db: Database,
  search = "",
  counted: CountedHolders | null = null,
): Promise<KnownWorkers> {
  const hasRows = await hasWorkerTable(db);
  const rows = await query<WorkerRow>(db, hasRows ? rowsSql : timeSql, hasRows ? [search] : []);
  const { holders, isComplete, basis } = await lockHolders(db, counted);
  const nowUs = rows[0]?.now_us ?? "0";
  const [inSearch, others] = [rows.filter((row) => row.is_found), new Map(holders)];
  for (const { id } of rows) if (id !== null) others.delete(id);
  const workers = [
    ...inSearch.map((row) => withRow(row, holders.get(row.id ?? "") ?? null)),
    ...[...others.values()]
      .filter(({ workerId }) => workerId.toLowerCase().includes(search.toLowerCase()))
      .map((holder) => withoutRow(holder, nowUs)),
  ];
  return {
    workers,
    hasAllHolders: isComplete && rows.length < MAX_WORKERS,
    locksBasis: basis,
    nowUs,
  };
}

interface WorkerRow {
  /** null: there are no heartbeat rows; this row only has the time. */
  readonly id: string | null;
  readonly now_us: string;
  readonly is_found: boolean;
  readonly is_stale: boolean;
  readonly started_us: string;
  readonly heartbeat_us: string;
  readonly running: number | null;
  readonly done_per_min: number | null;
  readonly failed_per_min: number | null;
}

function withRow(row: WorkerRow, locks: LockHolder | null): KnownWorker {
  const holdsAny = locks !== null || (row.running ?? 0) > 0;
  return {
    workerId: row.id ?? "",
    state: row.is_stale ? "stale" : "alive",
    level: row.is_stale ? (holdsAny ? "bad" : "warn") : "ok",
    startedAtUs: row.started_us,
    lastHeartbeatAtUs: row.heartbeat_us,
    reportedRunning: row.running,
    donePerMin: row.done_per_min,
    failedPerMin: row.failed_per_min,
    locks,
  };
}

function withoutRow(locks: LockHolder, nowUs: string): KnownWorker {
  const lockedUs = Number(locks.oldestLockUs ?? nowUs);
  const isOld = Number(nowUs) - lockedUs >= STALE_LOCK_MS * 1_000;
  return {
    workerId: locks.workerId,
    state: "unknown",
    level: isOld ? "warn" : "ok",
    startedAtUs: null,
    lastHeartbeatAtUs: null,
    reportedRunning: null,
    donePerMin: null,
    failedPerMin: null,
    locks,
  };
}

// The rows include workers that do not match the search, because a worker that has a row must not be listed as unknown.
const rowsSql: Statement = (s) => `
  select clock.now_us, workers.id, workers.is_found, workers.is_stale, workers.started_us,
    workers.heartbeat_us, workers.running, workers.done_per_min, workers.failed_per_min
  from (select ${microseconds("pg_catalog.now()")} as now_us) as clock
  left join (
    select workers.id,
      $1::text = '' or pg_catalog.strpos(pg_catalog.lower(pg_catalog.concat_ws(' ', workers.id, workers.metadata ->> 'host'::text,
        workers.metadata ->> 'version'::text, workers.metadata ->> 'node'::text,
        workers.metadata ->> 'task_identifiers'::text)), pg_catalog.lower($1::text)) > 0 as is_found,
      ${isNotResponding} as is_stale,
      ${microseconds("workers.started_at")} as started_us,
      ${microseconds("workers.last_heartbeat_at")} as heartbeat_us,
      ${reportedNumber("running_jobs")} as running,
      ${reportedNumber("done_per_min")} as done_per_min,
      ${reportedNumber("failed_per_min")} as failed_per_min
    from ${reportedWorkers(s)} as workers
  ) as workers on true`;

const timeSql: Statement = () => `
  select ${microseconds("pg_catalog.now()")} as now_us, null as id, false as is_found, false as is_stale`;
