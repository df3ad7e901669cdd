// The sum of the reports of live workers: their throughput and their running jobs, including those of the fast mode,
// which no other process can count.
import type { ActiveWorker } from "../read/list-active-workers.ts";

/** Each number is null if a live worker does not report it, or if no worker is alive. */
export interface Fleet {
  readonly running: number | null;
  readonly donePerMin: number | null;
  readonly failedPerMin: number | null;
}

export function fleetOf(workers: readonly ActiveWorker[]): Fleet {
  const living = workers.filter(({ isStale }) => !isStale);
  const sum = (of: (worker: ActiveWorker) => number | null) => {
    const reported = living.map(of);
    if (reported.length === 0 || reported.includes(null)) return null;
    // Workers report rates with a decimal; the HTTP API has integers.
    return Math.round(reported.reduce<number>((total, one) => total + (one ?? 0), 0));
  };
  return {
    running: sum(({ running }) => running),
    donePerMin: sum(({ donePerMin }) => donePerMin),
    failedPerMin: sum(({ failedPerMin }) => failedPerMin),
  };
}
