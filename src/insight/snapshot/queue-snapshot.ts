// A snapshot: the state of the queue at one moment. The page, the metrics and some commands show the last snapshot.

import type { ActiveWorker } from "../read/list-active-workers.ts";
import type { LockedWorker } from "../read/list-locked-workers.ts";
import type { Gauge } from "../stats/gauge.ts";
import type { NamedQueueRow } from "../stats/queue-rows.ts";
import type { Fleet } from "./fleet.ts";
import type { MeasuredCounts } from "./job-counts.ts";
import type { NameCounts } from "./name-counts.ts";
import type { JobRates, RateWindow } from "./rates.ts";

export interface QueueSnapshot {
  /** When the snapshot was read, by this process's monotonic clock, in milliseconds. */
  readonly readAtMs: number;
  readonly gauge: Gauge;
  /** Whether the whole table of jobs was read, so that every count of jobs is exact. */
  readonly isSmall: boolean;
  readonly counts: MeasuredCounts;
  readonly names: NameCounts;
  /** At most 1,000 named queues, first those that workers have locked. */
  readonly queues: readonly NamedQueueRow[];
  readonly workers: readonly ActiveWorker[];
  readonly fleet: Fleet;
  readonly rates: JobRates;
  /** The numbers of jobs added and done since an earlier reading. */
  readonly seen: RateWindow;
}

const MAX_HOLDERS = 1_000;

/** Returns the workers that hold locks on jobs or queues, ascending by id, at most 1,000. */
export function holdersOf({ names, gauge }: QueueSnapshot): readonly LockedWorker[] {
  const ids = new Set([...names.tallies.holders.keys(), ...gauge.queueHolders.keys()]);
  return [...ids]
    .sort((one, other) => (one < other ? -1 : 1))
    .slice(0, MAX_HOLDERS)
    .map((workerId) => ({
      workerId,
      lockedJobs: names.lockedBy(workerId),
      lockedQueues: gauge.queueHolders.get(workerId) ?? 0,
    }));
}

/** Returns the numbers of alive, stale and unknown workers. */
export function countWorkers(known: QueueSnapshot) {
  const rows = new Set(known.workers.map(({ workerId }) => workerId));
  const stale = known.workers.filter(({ isStale }) => isStale).length;
  const unknown = holdersOf(known).filter(({ workerId }) => !rows.has(workerId)).length;
  return { alive: rows.size - stale, stale, unknown };
}
