// The horizon: the number of jobs in each time bucket, for each condition of jobs that are not locked.
import {
  type Condition,
  conditionData,
  type LockedCondition,
  shownConditions,
} from "../../domain/condition.ts";
import type { Gauge } from "../stats/gauge.ts";

/** The conditions of jobs that are not locked: locked jobs have no place on the time axis. */
export type DrawnCondition = Exclude<Condition, LockedCondition>;
/** In drawing order. */
export const drawn = shownConditions.filter(
  (one): one is DrawnCondition => !conditionData[one].isLocked,
);
export type Series = Record<DrawnCondition, number[]>;

export interface Horizon {
  /** RFC 3339. */
  readonly now: string;
  /** The edges of the buckets in seconds from `now`. Jobs beyond the edges are in the first or the last bucket. */
  readonly edges: readonly number[];
  readonly series: Series;
  /** For each bucket: half the width of the 95 % interval of its number of jobs; 0: exact. */
  readonly error: readonly number[];
  readonly exact: readonly boolean[];
  readonly basis: "scan" | "sample";
}

/** Limits the horizon to a task and a queue; null: any. */
export interface HorizonFilter {
  readonly taskId: number | null;
  readonly queueId: number | null;
}

/** The input of the functions that count or estimate the jobs in each bucket. */
export interface BucketInput {
  /** The times that separate the buckets, RFC 3339: one fewer than there are buckets. */
  readonly bounds: readonly string[];
  readonly filter: HorizonFilter;
  readonly gauge: Gauge;
}

/** The numbers of jobs in each bucket, estimated from a sample. */
export interface BucketCounts {
  readonly series: Series;
  /** For each bucket: half the width of the 95 % interval of its number of failed jobs. */
  readonly failedError: readonly number[];
  /** The same for the jobs that have not failed. */
  readonly otherError: readonly number[];
}

export function emptySeries(buckets: number): Series {
  const zeros = drawn.map((one) => [one, new Array<number>(buckets).fill(0)]);
  return Object.fromEntries(zeros) as Series;
}
