/**
 * One row for each worker that is known from its heartbeat, its locks, or both. The one that
 * needs a look comes first: stale, then without a heartbeat, then alive.
 */
import { ActiveWorker, Overview } from "../generated/records";

export class WorkerRow {
  lockedJobs: i64 = 0;
  lockedQueues: i64 = 0;
  heartbeatAt: f64 = NaN;
  startedAt: f64 = NaN;
  metadata: string = "null";
  /** `stale`, `silent` (it holds locks and sends no heartbeat) or `alive`. */
  status: string = "silent";

  constructor(readonly id: string) {}

  get statusText(): string {
    return this.status === "silent" ? "no heartbeat" : this.status;
  }
}

export function workerRows(overview: Overview): WorkerRow[] {
  const byId = new Map<string, WorkerRow>();
  const active = overview.activeWorkers;
  for (let i = 0; i < active.length; i++) {
    const row = new WorkerRow(active[i].workerId);
    row.heartbeatAt = active[i].lastHeartbeatAt;
    row.startedAt = active[i].startedAt;
    row.metadata = active[i].metadata;
    row.status = active[i].isStale ? "stale" : "alive";
    byId.set(row.id, row);
  }
  const locked = overview.workers;
  for (let i = 0; i < locked.length; i++) {
    const id = locked[i].workerId;
    const row = byId.has(id) ? byId.get(id) : new WorkerRow(id);
    row.lockedJobs = locked[i].lockedJobs;
    row.lockedQueues = locked[i].lockedQueues;
    byId.set(id, row);
  }
  return byId.values().sort(needsALookFirst);
}

function rank(row: WorkerRow): i32 {
  return row.status === "stale" ? 0 : row.status === "silent" ? 1 : 2;
}

function needsALookFirst(a: WorkerRow, b: WorkerRow): i32 {
  const order = rank(a) - rank(b);
  return order !== 0 ? order : a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

export function staleCount(workers: ActiveWorker[]): i32 {
  let count = 0;
  for (let i = 0; i < workers.length; i++) if (workers[i].isStale) count++;
  return count;
}
