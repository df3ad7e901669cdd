// The input and the result of every step of a walk, and the SQL that steps share.
import type { Database } from "../../database/database.ts";
import type { Matching } from "./matching.ts";
import type { Segment } from "./order.ts";
import type { Row, WalkPlace } from "./walk-place.ts";

export interface StepInput {
  readonly db: Database;
  readonly matching: Matching;
  readonly segment: Segment;
  /** Matches to skip first. */
  readonly skip: number;
  /** Matches wanted after those. */
  readonly wanted: number;
  /** Rows to read. */
  readonly size: number;
}

export interface WalkStep<P> {
  /** In order; candidates if Node decides the query. */
  readonly rows: readonly Row[];
  /** Matches skipped. */
  readonly skipped: number;
  /** Rows read. */
  readonly scanned: number;
  /** Where the next step continues; null: the segment has ended. */
  readonly next: P | null;
}

/** Matches, each with the place after it. */
export interface Found {
  readonly id: string;
  readonly after: WalkPlace;
}

export const LOWEST_ID = "-9223372036854775808";
export const HIGHEST_ID = "9223372036854775807";

/** `first` and the following parameters are the query's. */
export function conditionOf(
  { matching, segment }: Pick<StepInput, "matching" | "segment">,
  first: number,
): string {
  return `(${segment.where}) and ${matching.sql(first)}`;
}

/** The texts of a list that the database returned as one. */
export function listOf(text: string | null, by = ","): string[] {
  return text === null || text === "" ? [] : text.split(by);
}
