// The orders of lists of jobs. An order is a list of segments that are walked one after another. If only some jobs have
// the sort key, a second segment has all other jobs, by id. For example, locked and failed jobs have no due time.
import {
  type Condition,
  conditionData,
  conditions,
  lockedConditions,
} from "../../domain/condition.ts";
import { isAvailable } from "../../queue/sql/eligible.ts";
import { isFailed, isLocked } from "../../queue/sql/job-state.ts";
import { microseconds } from "../../queue/sql/moments.ts";
import type { QueryShape } from "../query/job-query.ts";
import { compareKeys, isMomentKey, momentText } from "./moment-key.ts";

export const jobSorts = [
  "id",
  "-id",
  "due",
  "-due",
  "priority",
  "-failed_at",
  "-updated_at",
  "-attempts",
  "running",
] as const;
/** The order of a list of jobs. `-` means descending; `running` means by the time of the lock, earliest first. */
export type JobSort = (typeof jobSorts)[number];

/** A column by which jobs are sorted. */
export interface Key {
  readonly column: string;
  /** Returns an SQL expression for the exact value of `expression`, as a text. */
  readonly out: (expression: string) => string;
  /** Converts a text that the expression of `out` has returned into an SQL parameter. */
  readonly parameter: (text: string) => string;
  /** The SQL casts of this parameter, without the first `::`. */
  readonly type: string;
  readonly isValid: (text: string) => boolean;
}

/** How a segment's jobs are found in order. */
export type SegmentOrder =
  /** By id, because no other order is requested. */
  | { readonly kind: "ids" }
  /** By an index, which is read once for each of `priorities`; null: the index is read as a whole. */
  | {
      readonly kind: "index";
      readonly keys: readonly Key[];
      readonly priorities: readonly number[] | null;
    }
  /** Without an index: all jobs are read by id, and the best (the first in the order) are collected. */
  | { readonly kind: "rank"; readonly key: Key };

export interface Segment {
  readonly way: SegmentOrder;
  /** The SQL condition of the segment's jobs. The table's alias is `jobs`. */
  readonly where: string;
  readonly descending: boolean;
  /** Whether a walk by id begins with the highest id. */
  readonly fromNewest: boolean;
}

/** The facts that decide whether an index is used. */
export interface OrderFacts {
  /** The priorities of unlocked jobs with attempts left; null: too many priorities, or not read. */
  readonly priorities: readonly number[] | null;
  /** The names of existing optional indexes. */
  readonly indexes: ReadonlySet<string>;
}

const time = (column: string): Key => ({
  column,
  out: (expression) => `${microseconds(expression)}::text`,
  parameter: momentText,
  type: "text::timestamptz",
  isValid: isMomentKey,
});

const number = (column: string): Key => ({
  column,
  out: (expression) => `${expression}::text`,
  parameter: (text) => text,
  type: "int",
  isValid: (text) => /^-?\d{1,5}$/.test(text) && compareKeys(text, text) === 0,
});

const runAt = time("run_at");
const jobs = "jobs";
const waiting = conditions.filter((one) => conditionData[one].sort === "due");

/** Returns the segments of an order, without segments in which no job can match the query that has this `shape`. */
export function segmentsOf(
  sort: JobSort,
  shape: QueryShape,
  facts: OrderFacts,
): readonly Segment[] {
  switch (sort) {
    case "id":
      return [byId("true", false)];
    case "-id":
      return [byId("true", true)];
    case "due":
    case "-due": {
      const descending = sort === "-due";
      const { priorities } = facts;
      const way: SegmentOrder =
        priorities === null
          ? { kind: "rank", key: runAt }
          : { kind: "index", keys: [runAt], priorities };
      return keyedSegments(way, isAvailable(jobs), waiting, descending, shape);
    }
    case "priority": {
      const way: SegmentOrder = {
        kind: "index",
        keys: [number("priority"), runAt],
        // If the query limits due times or conditions, the priorities are read one by one, so that due or future jobs
        // that cannot match are skipped.
        priorities: shape.isDue === null && shape.conditions === null ? null : facts.priorities,
      };
      return keyedSegments(way, isAvailable(jobs), waiting, false, shape);
    }
    case "-failed_at":
      return keyedSegments(
        rankedOrder(time("updated_at"), "failed", facts),
        failed,
        ["failed"],
        true,
        shape,
      );
    case "running":
      return keyedSegments(
        rankedOrder(time("locked_at"), "running", facts),
        locked,
        lockedConditions,
        false,
        shape,
      );
    case "-updated_at": {
      const isOfFailed = shape.conditions?.every((one) => one === "failed") === true;
      if (isOfFailed) return segmentsOf("-failed_at", shape, facts);
      return [byKey({ kind: "rank", key: time("updated_at") }, "true", true)];
    }
    case "-attempts":
      return [byKey({ kind: "rank", key: number("attempts") }, "true", true)];
    default:
      return sort satisfies never;
  }
}

const failed = isFailed(jobs);
const locked = isLocked(jobs);

function rankedOrder(key: Key, index: string, { indexes }: OrderFacts): SegmentOrder {
  return indexes.has(index)
    ? { kind: "index", keys: [key], priorities: null }
    : { kind: "rank", key };
}

const byId = (where: string, descending: boolean): Segment => ({
  way: { kind: "ids" },
  where,
  descending,
  fromNewest: descending,
});

// Without an index, a descending order reads the newest jobs first. The newest jobs are the likeliest to have changed
// recently, so the best jobs are found early. With an index, only a position of the kind `tie` uses `fromNewest`.
const byKey = (way: SegmentOrder, where: string, descending: boolean): Segment => ({
  way,
  where,
  descending,
  fromNewest: descending,
});

/**
 * `where`: the SQL condition for jobs that have the sort key. `having`: the conditions (ready, blocked, …) of these
 * jobs.
 */
function keyedSegments(
  way: SegmentOrder,
  where: string,
  having: readonly Condition[],
  descending: boolean,
  { conditions, isDue }: QueryShape,
): readonly Segment[] {
  const first = byKey(way, where, descending);
  const rest = byId(`(${where}) is not true`, descending);
  const isWaiting = isDue !== null;
  const canHave = conditions === null || conditions.some((one) => having.includes(one));
  const canLack = conditions === null || conditions.some((one) => !having.includes(one));
  if (isWaiting && having === waiting) return [first];
  return [...(canHave ? [first] : []), ...(canLack ? [rest] : [])];
}
