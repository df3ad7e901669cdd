// Computes how many jobs match the query of an operation, from a full count or from a sample of the table's pages. If
// some jobs are too large to check, a counted number is an interval.
import { exactValue, intervalValue, limitToWhole, type Value } from "../../../domain/value.ts";
import { estimateFrom } from "../../../insight/stats/page-sample.ts";

export interface MatchCounts {
  readonly count: Value;
  /** The number of locked matching jobs. Most actions skip these jobs. */
  readonly locked: Value;
  /** The number of unlocked matching jobs. */
  readonly free: Value;
  /** The tasks with the most matches, at most ten. */
  readonly byTask: readonly CountOf[];
  /** The queues with the most matches, at most ten. The id null means jobs without a queue. */
  readonly byQueue: readonly CountOf[];
  /** The average sizes of a matching job's payload and error, in bytes. */
  readonly payloadBytes: number;
  readonly errorBytes: number;
}

export interface CountOf {
  readonly id: number | null;
  readonly count: Value;
}

/** Numbers of matching jobs, counted one by one, and the total sizes of payloads and errors. */
export interface MatchTally {
  readonly rows: number;
  readonly locked: number;
  /** The number of jobs that may match, but are too large to check. */
  readonly undecided: number;
  readonly payloadBytes: number;
  readonly errorBytes: number;
  readonly byTask: Counts;
  readonly byQueue: Counts;
}

type Counts = ReadonlyMap<number | null, number>;

/** The matching jobs on some pages of the table, and the data for the estimate. */
export interface MatchSample {
  /** The position of each job's page in the sample, from 0. The next three lists have the same order. */
  readonly places: readonly number[];
  readonly tasks: readonly number[];
  readonly queues: readonly (number | null)[];
  readonly isLocked: readonly boolean[];
  readonly pagesRead: number;
  /** The number of pages of the table. */
  readonly pages: number;
  /** The total sizes of the payloads and errors, in bytes; 0 if they were not read. */
  readonly payloadBytes: number;
  readonly errorBytes: number;
}

const MAX_SHARES = 10;
/** About the maximum number of jobs on a page, for the upper bound of an estimate if the sample has no matches. */
const MAX_ON_A_PAGE = 90;

export const noTally: MatchTally = {
  ...{ rows: 0, locked: 0, undecided: 0, payloadBytes: 0, errorBytes: 0 },
  byTask: new Map(),
  byQueue: new Map(),
};

/** Returns the sum of two tallies. */
export function sumOf(one: MatchTally, other: MatchTally): MatchTally {
  return {
    rows: one.rows + other.rows,
    locked: one.locked + other.locked,
    undecided: one.undecided + other.undecided,
    payloadBytes: one.payloadBytes + other.payloadBytes,
    errorBytes: one.errorBytes + other.errorBytes,
    byTask: bothOf(one.byTask, other.byTask),
    byQueue: bothOf(one.byQueue, other.byQueue),
  };
}

function bothOf(one: Counts, other: Counts): Counts {
  const both = new Map(one);
  for (const [key, count] of other) both.set(key, (both.get(key) ?? 0) + count);
  return both;
}

export function countedAs(tally: MatchTally, asOf: string): MatchCounts {
  const { undecided } = tally;
  const value = (count: number) =>
    undecided === 0
      ? exactValue(count, "scan", asOf)
      : intervalValue({ value: count, low: count, high: count + undecided }, "scan", asOf);
  const shares = (counts: Counts) =>
    largest([...counts], ([, count]) => count).map(([id, count]) => ({ id, count: value(count) }));
  return {
    count: value(tally.rows),
    locked: value(tally.locked),
    free: value(tally.rows - tally.locked),
    byTask: shares(tally.byTask),
    byQueue: shares(tally.byQueue),
    ...sizesOf(tally),
  };
}

/** Facts that limit an estimate from a sample. */
export interface SampleBounds {
  /** The counted matches: a lower bound of the estimate. */
  readonly walked: MatchTally;
  /** The number of ids that can match: an upper bound of the estimate. */
  readonly most: number;
  /** Whether a locked job can match. */
  readonly mayRun: boolean;
  readonly asOf: string;
}

export function estimatedFrom(
  sample: MatchSample,
  { walked, most, mayRun, asOf }: SampleBounds,
): MatchCounts {
  const { places, isLocked, pagesRead, pages } = sample;
  const all = places.map((_, at) => at);
  const perPage = all.length === 0 ? MAX_ON_A_PAGE : all.length / Math.max(pagesRead, 1);
  const estimateOf = (some: readonly number[], atLeast: number) => {
    const counts = new Array<number>(Math.max(pagesRead, 1)).fill(0);
    for (const at of some) {
      const place = places[at] ?? 0;
      counts[place] = (counts[place] ?? 0) + 1;
    }
    return intervalValue(estimateFrom(pages, counts, perPage), "sample", asOf, atLeast);
  };
  const count = limitToWhole(estimateOf(all, walked.rows), exactValue(most, "catalog", asOf));
  const part = (some: readonly number[], atLeast: number) =>
    limitToWhole(estimateOf(some, atLeast), count);
  const ofLocked = (is: boolean) => all.filter((at) => isLocked[at] === is);
  const shares = (ids: MatchSample["queues"], counts: Counts) => {
    const matchesById = Map.groupBy(all, (at) => ids[at] ?? null);
    const groups = [...new Set([...matchesById.keys(), ...counts.keys()])].map((id) => ({
      ...{ id, some: matchesById.get(id) ?? [], atLeast: counts.get(id) ?? 0 },
    }));
    const some = largest(groups, (one) => Math.max(one.some.length, one.atLeast));
    return some.map((one) => ({ id: one.id, count: part(one.some, one.atLeast) }));
  };
  return {
    count,
    locked: mayRun ? part(ofLocked(true), walked.locked) : exactValue(0, "sample", asOf),
    free: mayRun ? part(ofLocked(false), walked.rows - walked.locked) : count,
    byTask: shares(sample.tasks, walked.byTask),
    byQueue: shares(sample.queues, walked.byQueue),
    ...sizesOf({ ...sample, rows: all.length }),
  };
}

type SizeTotals = Pick<MatchTally, "rows" | "payloadBytes" | "errorBytes">;

/** Returns the average sizes of a job's payload and error. */
export function sizesOf({ rows, payloadBytes, errorBytes }: SizeTotals) {
  const each = (bytes: number) => (rows === 0 ? 0 : bytes / rows);
  return { payloadBytes: each(payloadBytes), errorBytes: each(errorBytes) };
}

function largest<T>(list: readonly T[], size: (one: T) => number): T[] {
  return list.toSorted((a, b) => size(b) - size(a)).slice(0, MAX_SHARES);
}
