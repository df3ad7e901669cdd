// A compiled query: an SQL condition on jobs. Texts from the query are only in parameters, not in the SQL.
import type { TermCost } from "./fields/field.ts";
import type { CheckedTexts } from "./parts/part.ts";
import type { QueryShape } from "./parts/shape.ts";

export type { CheckedTexts, QueryShape, TermCost };

export interface JobQuery {
  /** The query as typed, trimmed. An empty query matches every job. */
  readonly text: string;
  /**
   * The query with the meaning of each word made explicit: for example, the word `mail` becomes `task:"mail"`, or the
   * quoted text `"mail"`. So the meaning stays the same if the query is compiled again later.
   */
  readonly explicit: string;
  /** The time that `now` means, and from which ages count, in microseconds since 1970. */
  readonly nowUs: string;
  /**
   * Returns a condition on a row of _private_jobs with the alias `jobs`. An `or` is in parentheses. The parameters,
   * whose values are `values`, are numbered from `first` on (2 = `$2`).
   */
  sql(first: number): string;
  readonly values: readonly unknown[];
  /**
   * Returns whether a row that `sql` accepts matches the query: compares payload fields and error groups, which SQL
   * cannot decide. null: each such row matches.
   */
  readonly check: ((row: CheckedTexts) => boolean) | null;
  /**
   * Returns the select item `marks`, which `check` reads: the results of terms that SQL decides (row-check.ts). The
   * parameters are those of `sql(first)`.
   */
  marks(first: number): string;
  /** The query to use when decompression takes too long. null: the query reads no values that may be compressed. */
  readonly light: LightQuery | null;
  /** What all matching jobs have in common. The shape decides which index is used. */
  readonly shape: QueryShape;
  /** `cheap`: an index finds the matches. `bounded`: a walk in bounded steps finds them. */
  readonly cost: "cheap" | "bounded";
  readonly terms: readonly TermCost[];
  /** The first missing optional index that would make one of the terms cheap; null if none would. */
  readonly indexHint: string | null;
  /** Terms with names or error groups that do not exist, such as a misspelled task. */
  readonly unknown: readonly string[];
  /** Whether the query certainly matches nothing. */
  readonly isEmpty: boolean;
}

/** A query whose `sql` decompresses nothing. So `sql` also accepts rows that only decompression could exclude. */
export interface LightQuery extends JobQuery {
  /** A condition without parameters: the query reads a compressed value of the row. Such a row is not checked. */
  readonly undecided: string;
}

/** Returns the `undecided` of a light query; `false` for any other query. */
export const undecidedBy = (query: JobQuery): string =>
  "undecided" in query ? (query as LightQuery).undecided : "false";
