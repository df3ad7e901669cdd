// The horizon: jobs of five conditions, counted by time bucket.
import {
  type Condition,
  conditionData,
  type LockedCondition,
  shownConditions,
} from "../../domain/condition.ts";
import type { Gauge } from "../stats/gauge.ts";

/** In drawing order; locked jobs are not on the axis. */
export type Drawn = Exclude<Condition, LockedCondition>;
export const drawn = shownConditions.filter((one): one is Drawn => !conditionData[one].isLocked);
export type Series = Record<Drawn, number[]>;

export interface Horizon {
  /** RFC 3339: the time that the edges are relative to. */
  readonly now: string;
  /** Seconds from now; the outermost buckets are open-ended. */
  readonly edges: readonly number[];
  readonly series: Series;
  /** For each bucket: half the 95 % interval of its sum; 0 if it is exact. */
  readonly error: readonly number[];
  readonly exact: readonly boolean[];
  readonly basis: "scan" | "sample";
}

/** null: any. */
export interface HorizonFilter {
  readonly taskId: number | null;
  readonly queueId: number | null;
}

/** The input of every counting method. */
export interface BucketInput {
  /** The bounds between the buckets, one fewer than buckets. RFC 3339. */
  readonly bounds: readonly string[];
  readonly filter: HorizonFilter;
  readonly gauge: Gauge;
}

/** Counts by bucket, with the precision of each sum. */
export interface BucketCounts {
  readonly series: Series;
  /** Half the 95 % interval, of failed jobs and of all others. */
  readonly failedError: readonly number[];
  readonly otherError: readonly number[];
}

export function emptySeries(buckets: number): Series {
  const zeros = drawn.map((one) => [one, new Array<number>(buckets).fill(0)]);
  return Object.fromEntries(zeros) as Series;
}
