// The numbers of jobs of each task and each named queue, from an earlier count of the whole table or of a sample.
import type { Value } from "../../domain/value.ts";
import { agesOf, type NameTallies, type NameTally } from "../stats/name-tallies.ts";
import { inState, sumOf, type TallyName, tallied } from "../stats/tally.ts";
import type { CountedHolders } from "./lock-holders.ts";

export interface CountedNames extends CountedHolders {
  readonly tallies: NameTallies;
  /**
   * Returns the number of jobs of a task or queue in the conditions `which`; if the counts come from a sample, an
   * estimate. `tally`: the counts of the task or queue; undefined if none of its jobs was counted.
   */
  value(tally: NameTally | undefined, which: readonly TallyName[]): Value;
}

/**
 * Returns the number of counted jobs in the conditions `which`; 0 without a tally. If the counts come from a sample,
 * the result is the number of jobs in the sample, not an estimate for the whole table.
 */
export function countOf(tally: NameTally | undefined, which: readonly TallyName[]): number {
  return tally === undefined ? 0 : sumOf(tally.counts, which);
}

/** The number of jobs of a queue in each of the HTTP API's four states, and in total. */
export interface QueueCounts {
  /** The number of due jobs that no worker has locked and that have attempts left, even if the queue is locked. */
  readonly ready: Value;
  readonly scheduled: Value;
  readonly running: Value;
  readonly failed: Value;
  readonly total: Value;
  /**
   * The earliest run_at of the jobs that `ready` counts, in milliseconds since 1970. null if no such job was found, or
   * if only a sample of the jobs was read.
   */
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
