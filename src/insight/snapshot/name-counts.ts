// The number of jobs of each task and each named queue, with its precision.
import {
  type Basis,
  cappedValue,
  exactValue,
  intervalValue,
  type Value,
} from "../../domain/value.ts";
import { NameTallies, type NameTally } from "../stats/name-tallies.ts";
import { inState, sumOf, type TallyName } from "../stats/tally.ts";

export interface NameCounts {
  readonly basis: Extract<Basis, "scan" | "census" | "sample">;
  /** When the jobs were counted, RFC 3339. */
  readonly asOf: string;
  /** The counts; for a sample, only the counts in the sample. */
  readonly tallies: NameTallies;
  /** Returns the count of one task or queue. `tally`: undefined if none of its jobs was counted. */
  value(tally: NameTally | undefined, which: readonly TallyName[]): Value;
  /** Returns the number of jobs that this worker has locked. */
  lockedBy(workerId: string): number;
}

export function scannedNames(tallies: NameTallies, asOf: string): NameCounts {
  return {
    basis: "scan",
    asOf,
    tallies,
    value: (tally, which) => exactValue(countOf(tally, which), "scan", asOf),
    lockedBy: (workerId) => tallies.holders.get(workerId) ?? 0,
  };
}

/** What has changed since a census began. */
export interface ChangesSince {
  /** The number of written rows. Only these may have been counted twice or not at all. */
  readonly writes: number;
  /** The number of jobs that have become due without a write; null if unknown. */
  readonly becameDue: number | null;
}

export function censusNames(tallies: NameTallies, asOf: string, changes: ChangesSince): NameCounts {
  return {
    basis: "census",
    asOf,
    tallies,
    value: (tally, which) => {
      const value = countOf(tally, which);
      const margin = changes.writes + shiftOf(tally, which, changes.becameDue);
      if (margin === 0) return exactValue(value, "census", asOf);
      return intervalValue({ value, low: value - margin, high: value + margin }, "census", asOf);
    },
    lockedBy: (workerId) => tallies.holders.get(workerId) ?? 0,
  };
}

const due = inState.ready;
const scheduled = inState.scheduled;

/**
 * Returns an upper bound for changes without a write: scheduled jobs become due, and due jobs become blocked or ready
 * when their queue is locked or unlocked.
 */
function shiftOf(
  tally: NameTally | undefined,
  which: readonly TallyName[],
  becameDue: number | null,
): number {
  const shareOf = (side: readonly TallyName[]) =>
    side.filter((one) => which.includes(one)).length / side.length;
  const [ofDue, ofScheduled] = [shareOf(due), shareOf(scheduled)];
  const time =
    ofDue === ofScheduled && ofDue % 1 === 0 ? 0 : (becameDue ?? countOf(tally, scheduled));
  const locks = ofDue % 1 === 0 ? 0 : countOf(tally, due);
  return time + locks;
}

/** Half the width of the interval, in standard deviations: a little more than two. */
const Z = 2.2;
/** If none of m sampled pages has a job of a name, fewer than 3/m of all pages have one, with 95 % confidence. */
const RULE_OF_THREE = 3;

/** Returns estimates from a sample. `share`: the fraction of the pages that was read. */
export function sampledNames(tallies: NameTallies, asOf: string, share: number): NameCounts {
  const scale = 1 / share;
  return {
    basis: "sample",
    asOf,
    tallies,
    value: (tally, which) => {
      const counted = countOf(tally, which);
      if (tally === undefined || counted === 0) {
        return intervalValue({ value: 0, low: 0, high: RULE_OF_THREE * scale }, "sample", asOf);
      }
      // The conditions of one name may be correlated across pages, so their deviations are added.
      const spread = which.reduce((sum, one) => sum + Math.sqrt(tally.squares[one]), 0);
      const margin = Z * scale * spread;
      const value = scale * counted;
      const high = value + margin + (RULE_OF_THREE - 1) * scale;
      return intervalValue({ value, low: value - margin, high }, "sample", asOf, counted);
    },
    lockedBy: (workerId) => Math.round(scale * (tallies.holders.get(workerId) ?? 0)),
  };
}

/** Returns unknown counts, for a table none of whose pages could be read in time. */
export function unknownNames(asOf: string): NameCounts {
  return {
    basis: "sample",
    asOf,
    tallies: new NameTallies(),
    value: () => cappedValue(0, "sample", asOf),
    lockedBy: () => 0,
  };
}

function countOf(tally: NameTally | undefined, which: readonly TallyName[]): number {
  return tally === undefined ? 0 : sumOf(tally.counts, which);
}
