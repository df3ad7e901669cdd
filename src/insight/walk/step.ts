// The input and the result of a step of a walk (walk.ts), and functions that several kinds of steps use.
import type { Database } from "../../database/database.ts";
import type { WalkCondition } from "./matching.ts";
import type { Segment } from "./order.ts";
import type { Row, WalkPlace } from "./walk-place.ts";

export interface StepInput {
  readonly db: Database;
  readonly matching: WalkCondition;
  readonly segment: Segment;
  /** The number of matches to skip first. */
  readonly skip: number;
  /** The maximum number of matches to return after the skipped ones. */
  readonly wanted: number;
  /** The step ends after about this many rows. */
  readonly size: number;
}

export interface WalkStep<P> {
  /** The matches, in order. If the condition has a `check`, walk() still has to check these rows. */
  readonly rows: readonly Row[];
  /** The number of matches that were skipped. */
  readonly skipped: number;
  /** The number of rows that were read. A search by ids or by a key may count only matches. */
  readonly scanned: number;
  /** Where the next step continues; null: the segment has ended. */
  readonly next: P | null;
}

/** A match, and the place at which a walk continues after this match. */
export interface FoundJob {
  readonly id: string;
  readonly after: WalkPlace;
}

export const MIN_ID = "-9223372036854775808";
export const MAX_ID = "9223372036854775807";

/** Returns the condition of a step. `first`: the number of the query's first parameter. */
export function conditionOf(
  { matching, segment }: Pick<StepInput, "matching" | "segment">,
  first: number,
): string {
  return `(${segment.where}) and ${matching.sql(first)}`;
}

/** Splits a list that the database returned as one text. */
export function splitList(text: string | null, separator = ","): string[] {
  return text === null || text === "" ? [] : text.split(separator);
}
