// The number of jobs of each task and each named queue, with its precision.
import { type Basis, between, capped, exact, type Value } from "../../domain/value.ts";
import { NameTallies, type NameTally } from "../stats/name-tallies.ts";
import { inState, sumOf, type Tallied } from "../stats/tally.ts";

export interface NameCounts {
  readonly basis: Extract<Basis, "scan" | "census" | "sample">;
  /** RFC 3339. */
  readonly asOf: string;
  /** For a sample: what was met, not the total. */
  readonly tallies: NameTallies;
  /** Returns the count of one task or queue. `tally`: undefined for a name that was not met. */
  value(tally: NameTally | undefined, which: readonly Tallied[]): Value;
  /** The number of jobs locked by this holder. */
  held(holder: string): number;
}

export function scannedNames(tallies: NameTallies, asOf: string): NameCounts {
  return {
    basis: "scan",
    asOf,
    tallies,
    value: (tally, which) => exact(countOf(tally, which), "scan", asOf),
    held: (holder) => tallies.holders.get(holder) ?? 0,
  };
}

/** Changes since a census began. */
export interface Since {
  /** Written rows: only these may have been counted twice or not at all. */
  readonly writes: number;
  /** Jobs that have become due without a write; null if unknown. */
  readonly becameDue: number | null;
}

export function censusNames(tallies: NameTallies, asOf: string, since: Since): NameCounts {
  return {
    basis: "census",
    asOf,
    tallies,
    value: (tally, which) => {
      const value = countOf(tally, which);
      const margin = since.writes + shiftOf(tally, which, since.becameDue);
      if (margin === 0) return exact(value, "census", asOf);
      return between({ value, low: value - margin, high: value + margin }, "census", asOf);
    },
    held: (holder) => tallies.holders.get(holder) ?? 0,
  };
}

const due = inState.ready;
const ahead = inState.scheduled;

/**
 * An upper bound of changes without a write: scheduled jobs become due, and due jobs become blocked or ready with their
 * queue's lock.
 */
function shiftOf(
  tally: NameTally | undefined,
  which: readonly Tallied[],
  becameDue: number | null,
): number {
  const partOf = (side: readonly Tallied[]) =>
    side.filter((one) => which.includes(one)).length / side.length;
  const [ofDue, ofAhead] = [partOf(due), partOf(ahead)];
  const time = ofDue === ofAhead && ofDue % 1 === 0 ? 0 : (becameDue ?? countOf(tally, ahead));
  const locks = ofDue % 1 === 0 ? 0 : countOf(tally, due);
  return time + locks;
}

/** A little more than two standard deviations. */
const Z = 2.2;
/** With 95 % confidence, unmet names are on fewer pages than three times the pages that one sampled page represents. */
const UNMET_PAGES = 3;

/** `share`: the fraction of pages that was read. */
export function sampledNames(tallies: NameTallies, asOf: string, share: number): NameCounts {
  const scale = 1 / share;
  return {
    basis: "sample",
    asOf,
    tallies,
    value: (tally, which) => {
      const met = countOf(tally, which);
      if (tally === undefined || met === 0) {
        return between({ value: 0, low: 0, high: UNMET_PAGES * scale }, "sample", asOf);
      }
      // Conditions of one name may be correlated across pages: their deviations are added.
      const spread = which.reduce((sum, one) => sum + Math.sqrt(tally.squares[one]), 0);
      const margin = Z * scale * spread;
      const value = scale * met;
      const high = value + margin + (UNMET_PAGES - 1) * scale;
      return between({ value, low: value - margin, high }, "sample", asOf, met);
    },
    held: (holder) => Math.round(scale * (tallies.holders.get(holder) ?? 0)),
  };
}

/** If nothing could be read in time: names without numbers. */
export function unknownNames(asOf: string): NameCounts {
  return {
    basis: "sample",
    asOf,
    tallies: new NameTallies(),
    value: () => capped(0, "sample", asOf),
    held: () => 0,
  };
}

function countOf(tally: NameTally | undefined, which: readonly Tallied[]): number {
  return tally === undefined ? 0 : sumOf(tally.counts, which);
}
