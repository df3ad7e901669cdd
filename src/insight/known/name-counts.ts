// How many jobs each task and each named queue has, and how well that is known.
import { type Basis, between, capped, exact, type Value } from "../../domain/value.ts";
import { NameTallies, type NameTally } from "../stats/name-tallies.ts";
import { inState, sumOf, type Tallied } from "../stats/tally.ts";

export interface NameCounts {
  readonly basis: Extract<Basis, "scan" | "census" | "sample">;
  /** RFC 3339. */
  readonly asOf: string;
  /** Of a sample: what was met, not what there is. */
  readonly tallies: NameTallies;
  /** Of one task or queue; of one that was not met when `tally` is undefined. */
  value(tally: NameTally | undefined, which: readonly Tallied[]): Value;
  /** How many jobs this holder has locked. */
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

/** What has happened since a census began. */
export interface Since {
  /** Rows that were written: each may have been counted twice or not at all, and no other. */
  readonly writes: number;
  /** Jobs that have become due without being written; null: nobody knows how many. */
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
 * How many may have come or gone without a write: what was ahead becomes due, and what is due is
 * blocked or not as its queue is locked or not.
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

/** Two standard deviations and a bit. */
const Z = 2.2;
/** What was not met is, with 95 %, on less than three of as many pages as the sample stands for. */
const UNMET_PAGES = 3;

/** `share`: the part of all pages that was read. */
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
      // Conditions of one name may go together from page to page: their deviations are added up.
      const spread = which.reduce((sum, one) => sum + Math.sqrt(tally.squares[one]), 0);
      const margin = Z * scale * spread;
      const value = scale * met;
      const high = value + margin + (UNMET_PAGES - 1) * scale;
      return between({ value, low: value - margin, high }, "sample", asOf, met);
    },
    held: (holder) => Math.round(scale * (tallies.holders.get(holder) ?? 0)),
  };
}

/** Where nothing could be read in time: names are shown without numbers. */
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
