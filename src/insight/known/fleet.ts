// What living workers report of themselves, added up: how much they do, and how many jobs run, those of
// the fast mode too, which no other process can see.
import type { ActiveWorker } from "../../queue/workers/list-active-workers.ts";

export interface Fleet {
  /** null: not all living workers say so, or none lives. */
  readonly running: number | null;
  readonly donePerMin: number | null;
  readonly failedPerMin: number | null;
}

export function fleetOf(workers: readonly ActiveWorker[]): Fleet {
  const living = workers.filter(({ isStale }) => !isStale);
  const sum = (of: (worker: ActiveWorker) => number | null) => {
    const reported = living.map(of);
    if (reported.length === 0 || reported.includes(null)) return null;
    // Workers report parts of jobs a minute; the wire has whole ones.
    return Math.round(reported.reduce<number>((total, one) => total + (one ?? 0), 0));
  };
  return {
    running: sum(({ running }) => running),
    donePerMin: sum(({ donePerMin }) => donePerMin),
    failedPerMin: sum(({ failedPerMin }) => failedPerMin),
  };
}
