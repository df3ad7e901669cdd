// A compiled query: a condition on jobs whose SQL contains only constants and parameters, with every name resolved to
// an id. All code that reads, counts, exports or changes matching jobs takes a JobQuery.
import type { TermCost } from "./fields/field.ts";
import type { CheckedTexts } from "./parts/part.ts";
import type { QueryShape } from "./parts/shape.ts";

export type { CheckedTexts, QueryShape, TermCost };

export interface JobQuery {
  /** The query as typed, trimmed. Empty: every job. */
  readonly text: string;
  /**
   * The query with the meaning of each word: `key:"a"`, or `"a"` anywhere. It is for compiling the query again later,
   * when the named job may no longer exist.
   */
  readonly explicit: string;
  /** The time of `now` and of ages in the query, in microseconds since 1970, fixed once by the database's clock. */
  readonly nowUs: string;
  /**
   * Returns a condition on a row of _private_jobs under the alias `jobs`, in parentheses. Its parameters are numbered
   * from `first` on (2 = `$2`), and their values are `values`. It is `true` if all jobs match.
   */
  sql(first: number): string;
  readonly values: readonly unknown[];
  /**
   * Decides by the row's texts where PostgreSQL can only narrow the jobs down: payload fields, error groups; null: the
   * SQL decides.
   */
  readonly check: ((row: CheckedTexts) => boolean) | null;
  /**
   * Returns the select item `marks`, the other input of `check`, with parameters as in `sql`. It is `null::text` if
   * `check` needs none.
   */
  marks(first: number): string;
  /**
   * The query without its conditions on compressed values, for when decompressing takes too long; null: the query
   * decompresses nothing.
   */
  readonly light: LightQuery | null;
  /** What all matching jobs have in common, by which a reader selects an index. */
  readonly shape: QueryShape;
  /** `cheap`: an index finds the matches. `bounded`: a walk in bounded steps finds them. */
  readonly cost: "cheap" | "bounded";
  /** The costs of its terms, for `explain`. */
  readonly terms: readonly TermCost[];
  /** The first missing optional index that would make one of the terms cheap; null if none would. */
  readonly indexHint: string | null;
  /** The names in it that do not exist, as in `task:nmae`. */
  readonly unknown: readonly string[];
  /** Whether the query certainly matches nothing, so that no statement is needed. */
  readonly isEmpty: boolean;
}

/** A query whose `sql` also matches the rows that only decompressing decides. */
export interface LightQuery extends JobQuery {
  /** A condition without parameters: only decompressing decides the row. `check` and `marks` do not apply to it. */
  readonly undecided: string;
}

/** Returns a select item: whether only decompressing decides if the row matches the query. */
export const undecidedBy = (query: JobQuery): string =>
  "undecided" in query ? (query as LightQuery).undecided : "false";
