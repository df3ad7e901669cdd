// The number of jobs of each task and queue, from the existing counts: one pass over a small table, a census or a
// sample of a large one.
import type { Value } from "../../domain/value.ts";
import { agesOf, type NameTallies, type NameTally } from "../stats/name-tallies.ts";
import { inState, sumOf, type Tallied, tallied } from "../stats/tally.ts";
import type { CountedHolders } from "./lock-holders.ts";

export interface CountedNames extends CountedHolders {
  readonly tallies: NameTallies;
  /** `undefined`: for a name that was not met. */
  value(tally: NameTally | undefined, which: readonly Tallied[]): Value;
}

/** The sort key; for a sample, its share. */
export function countOf(tally: NameTally | undefined, which: readonly Tallied[]): number {
  return tally === undefined ? 0 : sumOf(tally.counts, which);
}

/** The jobs of a queue, in the contract's states. */
export interface QueueCounts {
  /** Due, whether or not the queue is locked. */
  readonly ready: Value;
  readonly scheduled: Value;
  readonly running: Value;
  readonly failed: Value;
  readonly total: Value;
  /** Milliseconds since 1970; for a sample, of the jobs met. */
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
