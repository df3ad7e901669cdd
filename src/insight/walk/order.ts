// The orders in which jobs are listed, each as segments that are walked one after the other: first the
// jobs that have what they are ordered by, then the rest by id. A job that is locked or has failed is
// not waiting for a time; one that has not failed has no time of its failure.
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
  "-tries",
  "running",
] as const;
/** The order of listJobs(); `-` is descending. */
export type JobSort = (typeof jobSorts)[number];

/** A column that jobs are ordered by. */
export interface Key {
  readonly column: string;
  /** As text that leaves the database exactly. */
  readonly out: (expression: string) => string;
  /** What such a text becomes to be a parameter, and the parameter's type. */
  readonly parameter: (text: string) => string;
  readonly type: string;
  readonly isValid: (text: string) => boolean;
}

/** How a segment's jobs are found in their order. */
export type Way =
  /** By id: no other order is asked for. */
  | { readonly kind: "ids" }
  /** An index has the order; for each of these priorities, or as a whole. */
  | {
      readonly kind: "index";
      readonly keys: readonly Key[];
      readonly priorities: readonly number[] | null;
    }
  /** No index has it: all are looked at, in order of their ids, and the best are kept. */
  | { readonly kind: "rank"; readonly key: Key };

export interface Segment {
  readonly way: Way;
  /** Which jobs belong to it, on the alias `jobs`. */
  readonly where: string;
  readonly descending: boolean;
  /** The direction of ids in a walk by id. */
  readonly fromNewest: boolean;
}

/** What decides whether an index leads the way. */
export interface OrderFacts {
  /** Those of available jobs; null: too many for an index to be read for each. */
  readonly priorities: readonly number[] | null;
  /** Names of optional indexes that are there. */
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

/** The segments of an order, without those in which nothing can match. */
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
      const way: Way =
        priorities === null
          ? { kind: "rank", key: runAt }
          : { kind: "index", keys: [runAt], priorities };
      return parted(way, isAvailable(jobs), waiting, descending, shape);
    }
    case "priority": {
      const way: Way = {
        kind: "index",
        keys: [number("priority"), runAt],
        // What is due stands before what is not in each of them.
        priorities: shape.isDue === null && shape.conditions === null ? null : facts.priorities,
      };
      return parted(way, isAvailable(jobs), waiting, false, shape);
    }
    case "-failed_at":
      return parted(ranked(time("updated_at"), "failed", facts), failed, ["failed"], true, shape);
    case "running":
      return parted(
        ranked(time("locked_at"), "running", facts),
        locked,
        lockedConditions,
        false,
        shape,
      );
    case "-updated_at": {
      const isOfFailed = shape.conditions?.every((one) => one === "failed") === true;
      if (isOfFailed) return segmentsOf("-failed_at", shape, facts);
      return [ranking({ kind: "rank", key: time("updated_at") }, "true", true)];
    }
    case "-tries":
      return [ranking({ kind: "rank", key: number("attempts") }, "true", true)];
    default:
      return sort satisfies never;
  }
}

const failed = isFailed(jobs);
const locked = isLocked(jobs);

/** The optional index's order where it is there. */
function ranked(key: Key, index: string, { indexes }: OrderFacts): Way {
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

// What has changed last is more often among the newest: a first answer from there is a better one.
const ranking = (way: Way, where: string, descending: boolean): Segment => ({
  way,
  where,
  descending,
  fromNewest: descending,
});

/** Those that have what they are ordered by, then the others by id. */
function parted(
  way: Way,
  where: string,
  having: readonly Condition[],
  descending: boolean,
  { conditions, isDue }: QueryShape,
): readonly Segment[] {
  const first = ranking(way, where, descending);
  const rest = byId(`(${where}) is not true`, descending);
  const isWaiting = isDue !== null;
  const canHave = conditions === null || conditions.some((one) => having.includes(one));
  const canLack = conditions === null || conditions.some((one) => !having.includes(one));
  if (isWaiting && having === waiting) return [first];
  return [...(canHave ? [first] : []), ...(canLack ? [rest] : [])];
}
