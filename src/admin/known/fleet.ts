// What living workers report of themselves, added up: how much they do, and how many jobs run, those of
// the fast mode too, which nobody else can see.
import type { ActiveWorker } from "../../queue/workers/list-active-workers.ts";
import { type WorkerReport, workerReport } from "../../queue/workers/worker-report.ts";

export interface Fleet {
  /** null: not all living workers say so, or none lives. */
  readonly running: number | null;
  readonly donePerMin: number | null;
  readonly failedPerMin: number | null;
}

/** A report is read again when the worker has beaten since. */
export function createFleet(): (workers: readonly ActiveWorker[]) => Fleet {
  let reports = new Map<string, WorkerReport>();
  return (workers) => {
    const next = new Map<string, WorkerReport>();
    for (const { workerId, lastHeartbeatAtText, metadataText, isStale } of workers) {
      if (isStale) continue;
      const key = `${workerId} ${lastHeartbeatAtText}`;
      next.set(key, reports.get(key) ?? workerReport(metadataText));
    }
    reports = next;
    const all = [...next.values()];
    const sum = (of: (report: WorkerReport) => number | null) => {
      const said = all.map(of);
      if (said.length === 0 || said.includes(null)) return null;
      // Workers report parts of jobs a minute; the wire has whole ones.
      return Math.round(said.reduce<number>((total, one) => total + (one ?? 0), 0));
    };
    return {
      running: sum(({ running }) => running),
      donePerMin: sum(({ donePerMin }) => donePerMin),
      failedPerMin: sum(({ failedPerMin }) => failedPerMin),
    };
  };
}
