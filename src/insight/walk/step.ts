// What every step of a walk is asked and what it answers, and the pieces of SQL that steps share.
import type { Database } from "../../database/database.ts";
import type { Matching } from "./matching.ts";
import type { Segment } from "./order.ts";
import type { Row, WalkPlace } from "./walk-place.ts";

export interface StepInput {
  readonly db: Database;
  readonly matching: Matching;
  readonly segment: Segment;
  /** Matches to pass over first. */
  readonly skip: number;
  /** Matches wanted after those. */
  readonly wanted: number;
  /** Rows to look at. */
  readonly size: number;
}

export interface WalkStep<P> {
  /** In order; where the query's last word is Node's, they are candidates. */
  readonly rows: readonly Row[];
  /** Matches that were passed over. */
  readonly skipped: number;
  /** Rows that were looked at. */
  readonly scanned: number;
  /** Where the next step goes on; null: the segment has ended. */
  readonly next: P | null;
}

/** Rows that were found, each with where a list that ends with it goes on. */
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

/** The texts of a list that left the database as one. */
export function listOf(text: string | null, by = ","): string[] {
  return text === null || text === "" ? [] : text.split(by);
}
