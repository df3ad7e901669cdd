// What the horizon consists of: five conditions, counted by bucket of time.
import {
  type Condition,
  conditionData,
  type LockedCondition,
  shownConditions,
} from "../../domain/condition.ts";
import type { Gauge } from "../stats/gauge.ts";

/** In the order in which they are drawn; locked ones are not on the axis. */
export type Drawn = Exclude<Condition, LockedCondition>;
export const drawn = shownConditions.filter((one): one is Drawn => !conditionData[one].isLocked);
export type Series = Record<Drawn, number[]>;

export interface Horizon {
  /** RFC 3339: what the edges count from. */
  readonly now: string;
  /** Seconds from now; the outermost buckets reach to the ends of time. */
  readonly edges: readonly number[];
  readonly series: Series;
  /** Per bucket: half the 95 % interval of its sum; 0 where it is exact. */
  readonly error: readonly number[];
  readonly exact: readonly boolean[];
  readonly basis: "scan" | "sample";
}

/** null = of any. */
export interface HorizonFilter {
  readonly taskId: number | null;
  readonly queueId: number | null;
}

/** What every way to count is given. */
export interface BucketInput {
  /** Between the buckets: one fewer than there are buckets. RFC 3339. */
  readonly bounds: readonly string[];
  readonly filter: HorizonFilter;
  readonly gauge: Gauge;
}

/** Counts by bucket, and how well each sum is known. */
export interface BucketCounts {
  readonly series: Series;
  /** Half the 95 % interval, of the failed and of all others. */
  readonly failedError: readonly number[];
  readonly otherError: readonly number[];
}

export function emptySeries(buckets: number): Series {
  const zeros = drawn.map((one) => [one, new Array<number>(buckets).fill(0)]);
  return Object.fromEntries(zeros) as Series;
}
