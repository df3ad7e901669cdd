// A compiled query: an SQL condition on jobs. Texts from the query are only in the values of the condition's
// parameters, not in the SQL. Names of tasks and queues have become ids.
import type { TermCost } from "./fields/field.ts";
import type { CheckedTexts } from "./parts/part.ts";
import type { QueryShape } from "./parts/shape.ts";

export type { CheckedTexts, QueryShape, TermCost };

export interface JobQuery {
  /** The query as typed, trimmed. An empty query matches every job. */
  readonly text: string;
  /**
   * The query in a form in which the meaning of each word is explicit: for example, the word `a` becomes `key:"a"`, or
   * the quoted text `"a"`. This form can be compiled later with the same meaning, even if the job with the key no
   * longer exists.
   */
  readonly explicit: string;
  /**
   * The time that `now` in the query means, and from which ages count, in microseconds since 1970: the database's time
   * when the query was compiled, or the time that the caller gave.
   */
  readonly nowUs: string;
  /**
   * Returns a condition on a row of _private_jobs under the alias `jobs`; `true` if all jobs match. An `or` in the
   * condition is in parentheses. The parameters are numbered from `first` on (2 = `$2`), and their values are `values`.
   */
  sql(first: number): string;
  readonly values: readonly unknown[];
  /**
   * Returns whether a row that `sql` accepts matches the query. The function compares payload fields and error groups,
   * because SQL cannot decide them. null: each row that `sql` accepts matches.
   */
  readonly check: ((row: CheckedTexts) => boolean) | null;
  /**
   * Returns the select item for the *marks*: the results of the terms that SQL decides and `check` needs
   * (row-check.ts); `null::text` if `check` needs none. `check` reads the item's value as the member `marks` of a row.
   * The parameters are those of `sql(first)`.
   */
  marks(first: number): string;
  /**
   * The same query with a condition that decompresses nothing, for use when decompression takes too long. null: the
   * query reads no values that may be compressed.
   */
  readonly light: LightQuery | null;
  /** What all matching jobs have in common. Code that reads the jobs selects an index by the shape. */
  readonly shape: QueryShape;
  /** `cheap`: an index finds the matches. `bounded`: a walk in bounded steps finds them. */
  readonly cost: "cheap" | "bounded";
  readonly terms: readonly TermCost[];
  /** The first missing optional index that would make one of the terms cheap; null if none would. */
  readonly indexHint: string | null;
  /** Terms with names or error groups that do not exist, such as a misspelled task. */
  readonly unknown: readonly string[];
  /** Whether the query certainly matches nothing, so that no statement is needed. */
  readonly isEmpty: boolean;
}

/** A query whose `sql` decompresses nothing. So `sql` also accepts rows that only decompression could exclude. */
export interface LightQuery extends JobQuery {
  /**
   * A condition without parameters: the row has a compressed value that the query reads, so it cannot be decided
   * whether the row matches. `check` is not called for such a row.
   */
  readonly undecided: string;
}

/** Returns a select item: `undecided` of a light query; `false` for any other query, because it decides every row. */
export const undecidedBy = (query: JobQuery): string =>
  "undecided" in query ? (query as LightQuery).undecided : "false";
