// What GET /metrics shows besides the admin's own counters: the state of the queue, of the feed and of the pool.

import type { Pause } from "../../insight/controls/list-pauses.ts";
import type { LimitUse } from "../../insight/limits/limit-use.ts";
import type { LargestNames } from "../../insight/snapshot/largest-names.ts";
import type { QueueSnapshot } from "../../insight/snapshot/queue-snapshot.ts";
import type { SamplerPart } from "../../insight/snapshot/sampler.ts";

/** `list`: the pauses; `waiting`: the number of live workers that have not acknowledged all of these pauses. */
export interface PauseFacts {
  readonly list: readonly Pause[];
  readonly waiting: number;
}

export interface MetricsInput {
  /**
   * `away`: the database is unreachable or does not respond. `unknown`: the read failed for another reason, or took too
   * long.
   */
  readonly snapshot: QueueSnapshot | "away" | "unknown";
  /** The tasks and queues with the most jobs; null: there is no snapshot, or the names could not be read. */
  readonly names: LargestNames | null;
  /** Null: there is no snapshot, or the pauses could not be read. */
  readonly pauses: PauseFacts | null;
  /** The use of each limit; null: there is no snapshot, or the limits could not be read. */
  readonly limits: readonly LimitUse[] | null;
  readonly feed: {
    readonly viewers: number;
    readonly parts: ReadonlyMap<SamplerPart, { readonly tookMs: number; readonly atMs: number }>;
  };
  readonly pool: {
    readonly totalCount: number;
    readonly idleCount: number;
    readonly waitingCount: number;
  };
}
