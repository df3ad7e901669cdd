// The number of jobs of each task and each named queue, with its precision.
import {
  type Basis,
  cappedValue,
  exactValue,
  intervalValue,
  type Value,
} from "../../domain/value.ts";
import { NameTallies, type NameTally } from "../stats/name-tallies.ts";
import { inState, sumOf, type TallyName, tallied } from "../stats/tally.ts";

export interface NameCounts {
  readonly basis: Extract<Basis, "scan" | "census" | "sample">;
  /** RFC 3339: when the jobs were counted; for a census, when the last part was counted. */
  readonly asOf: string;
  /** The counts of the jobs that were read. */
  readonly tallies: NameTallies;
  /** Returns the number of jobs in these conditions. `tally`: an entry of `tallies`; undefined: there is no entry. */
  value(tally: NameTally | undefined, which: readonly TallyName[]): Value;
  /** Returns the number of jobs that this worker has locked; for a sample, an estimate. */
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

/** The changes since a census began. */
export interface ChangesSince {
  /** The number of writes to rows of jobs. The census may have counted a written row twice or not at all. */
  readonly writes: number;
  /** The number of jobs whose run_at has passed since the census began; null if unknown. */
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
 * Returns how much a count may have changed without a write to a job: scheduled jobs and retries become due, and due
 * jobs become blocked or stop being blocked.
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

/** Half the width of a confidence interval, in standard deviations (page-sample.ts). */
const Z = 2.2;
/** If none of m sampled pages has a job of a task or queue, fewer than 3/m of all pages have one (95 % confidence). */
const RULE_OF_THREE = 3;

/** Returns estimates. `sampled`: the number of pages that were read. `pages`: all pages of the table. */
export function sampledNames(
  tallies: NameTallies,
  asOf: string,
  sampled: number,
  pages: number,
): NameCounts {
  const scale = Math.max(pages, 1) / Math.max(sampled, 1);
  const perPage = countOf(tallies.all, tallied) / Math.max(sampled, 1);
  return {
    basis: "sample",
    asOf,
    tallies,
    value: (tally, which) => {
      const counted = countOf(tally, which);
      if (tally === undefined || counted === 0) {
        const high = RULE_OF_THREE * scale * Math.max(perPage, 1);
        return intervalValue({ value: 0, low: 0, high }, "sample", asOf);
      }
      // The counts of two conditions may be correlated across pages, so their standard deviations are added.
      const spread = which.reduce((sum, one) => sum + Math.sqrt(tally.squares[one]), 0);
      const margin = Z * scale * spread;
      const value = scale * counted;
      // On a page that has jobs of this name, the name has about this many jobs.
      const onePage = which.reduce((sum, one) => sum + tally.squares[one], 0) / counted;
      const high = value + margin + (RULE_OF_THREE - 1) * scale * onePage;
      return intervalValue({ value, low: value - margin, high }, "sample", asOf, counted);
    },
    lockedBy: (workerId) => Math.round(scale * (tallies.holders.get(workerId) ?? 0)),
  };
}

/** Returns unknown counts: no page of the table could be read in time. */
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
