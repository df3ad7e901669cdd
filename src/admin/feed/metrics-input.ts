// The input of a scrape: the queue, the feed and the pool.

import type { Pause } from "../../insight/controls/list-pauses.ts";
import type { LimitUse } from "../../insight/limits/limit-use.ts";
import type { LargestNames } from "../../insight/snapshot/largest-names.ts";
import type { QueueSnapshot } from "../../insight/snapshot/queue-snapshot.ts";
import type { SamplerPart } from "../../insight/snapshot/sampler.ts";

/** The pauses, and the number of live workers that have not acknowledged all of them. */
export interface PauseFacts {
  readonly list: readonly Pause[];
  readonly waiting: number;
}

export interface MetricsInput {
  /**
   * The snapshot; `away`: the database could not be reached; `unknown`: it was reached, but the reading failed or took
   * too long.
   */
  readonly snapshot: QueueSnapshot | "away" | "unknown";
  readonly names: LargestNames | null;
  /** The pauses; null: they could not be read. */
  readonly pauses: PauseFacts | null;
  /** The use of each limit; null: it could not be read. */
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
