// How many jobs each task and queue has, as whoever counts them knows it: from one pass over a small
// table, from a census or a sample of a large one.
import type { Value } from "../../domain/value.ts";
import { agesOf, type NameTallies, type NameTally } from "../stats/name-tallies.ts";
import { inState, sumOf, type Tallied, tallied } from "../stats/tally.ts";
import type { CountedHolders } from "./lock-holders.ts";

export interface CountedNames extends CountedHolders {
  readonly tallies: NameTallies;
  /** `undefined`: of a name that was not met. */
  value(tally: NameTally | undefined, which: readonly Tallied[]): Value;
}

/** What to sort by; of a sample, in its proportion. */
export function countOf(tally: NameTally | undefined, which: readonly Tallied[]): number {
  return tally === undefined ? 0 : sumOf(tally.counts, which);
}

/** The jobs of a queue, in the contract's states. */
export interface QueueCounts {
  /** Due, whether the queue is locked or not: all that waits. */
  readonly ready: Value;
  readonly scheduled: Value;
  readonly running: Value;
  readonly failed: Value;
  readonly total: Value;
  /** Milliseconds since 1970; of a sample, of what was met. */
  readonly oldestReadyMs: number | null;
}

export function queueCounts(counted: CountedNames, id: number): QueueCounts {
  const tally = counted.tallies.queues.get(id);
  const value = (which: readonly Tallied[]) => counted.value(tally, which);
  return {
    ready: value(inState.ready),
    scheduled: value(inState.scheduled),
    running: value(inState.locked),
    failed: value(inState.failed),
    total: value(tallied),
    oldestReadyMs: tally === undefined ? null : agesOf(tally).oldestReady,
  };
}
