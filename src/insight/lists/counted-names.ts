// The number of jobs of each task and queue, from existing counts. A small table was counted in one pass. The counts of
// a large table are from a census (snapshot/census.ts) or a sample.
import type { Value } from "../../domain/value.ts";
import { agesOf, type NameTallies, type NameTally } from "../stats/name-tallies.ts";
import { inState, sumOf, type TallyName, tallied } from "../stats/tally.ts";
import type { CountedHolders } from "./lock-holders.ts";

export interface CountedNames extends CountedHolders {
  readonly tallies: NameTallies;
  /**
   * Returns how many jobs of a task or queue are in the conditions `which`. `tally`: its counts; undefined if none of
   * its jobs was counted.
   */
  value(tally: NameTally | undefined, which: readonly TallyName[]): Value;
}

/** Returns the number of counted jobs, for sorting. The number of a sample is not scaled to the whole table. */
export function countOf(tally: NameTally | undefined, which: readonly TallyName[]): number {
  return tally === undefined ? 0 : sumOf(tally.counts, which);
}

/** The number of jobs of a queue in each of the HTTP API's four states, and in total. */
export interface QueueCounts {
  /** The number of due jobs, whether or not the queue is locked. */
  readonly ready: Value;
  readonly scheduled: Value;
  readonly running: Value;
  readonly failed: Value;
  readonly total: Value;
  /** The run_at of the oldest due job (for a sample: in the sample), in milliseconds since 1970; null: none. */
  readonly oldestReadyMs: number | null;
}

export function queueCounts(counted: CountedNames, id: number): QueueCounts {
  const tally = counted.tallies.queues.get(id);
  const value = (which: readonly TallyName[]) => counted.value(tally, which);
  return {
    ready: value(inState.ready),
    scheduled: value(inState.scheduled),
    running: value(inState.locked),
    failed: value(inState.failed),
    total: value(tallied),
    oldestReadyMs: tally === undefined ? null : agesOf(tally).oldestReady,
  };
}
