// The numbers of jobs of each task and each named queue, from an earlier count of the whole table or of a sample.
import type { Value } from "../../domain/value.ts";
import { agesOf, type NameTallies, type NameTally } from "../stats/name-tallies.ts";
import { inState, sumOf, type TallyName, tallied } from "../stats/tally.ts";
import type { CountedHolders } from "./lock-holders.ts";

export interface CountedNames extends CountedHolders {
  readonly tallies: NameTallies;
  /**
   * Returns the number of jobs of a task or queue in the conditions `which`; an estimate if the counts come from a
   * sample.
   */
  value(tally: NameTally | undefined, which: readonly TallyName[]): Value;
}

/**
 * Returns the number of counted jobs in the conditions `which`. A count of a sample is not scaled to the whole table.
 */
export function countOf(tally: NameTally | undefined, which: readonly TallyName[]): number {
  return tally === undefined ? 0 : sumOf(tally.counts, which);
}

/** The number of jobs of a queue in each of the HTTP API's four states, and in total. */
export interface QueueCounts {
  /** The number of due, unlocked jobs with attempts left, even if the queue is locked. */
  readonly ready: Value;
  readonly scheduled: Value;
  readonly running: Value;
  readonly failed: Value;
  readonly total: Value;
  /** The earliest run_at of the ready jobs, in milliseconds since 1970; null: none found, or only a sample was read. */
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
