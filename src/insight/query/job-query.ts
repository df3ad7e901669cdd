// A compiled query: a condition on jobs whose SQL contains only constants and parameters, with every name resolved to
// an id. All code that reads, counts, exports or changes matching jobs takes a JobQuery.
import type { TermCost } from "./fields/field.ts";
import type { CheckedTexts } from "./parts/part.ts";
import type { QueryShape } from "./parts/shape.ts";

export type { CheckedTexts, QueryShape, TermCost };

export interface JobQuery {
  /** As typed, trimmed. Empty: every job. */
  readonly text: string;
  /**
   * The same with the meaning of each bare word: `key:"a"`, or `"a"` anywhere. For compiling it again later, when the
   * named job may no longer exist.
   */
  readonly explicit: string;
  /** The moment of `now` and ages in it, in microseconds since 1970: the database's, fixed once. */
  readonly nowUs: string;
  /**
   * A condition on a row of _private_jobs under the alias `jobs`, in parentheses; its parameters are numbered from
   * `first` on (2 = `$2`), and their values are `values`. `true` if all jobs match.
   */
  sql(first: number): string;
  readonly values: readonly unknown[];
  /**
   * Decides on the row's texts what PostgreSQL can only narrow down: payload fields, error groups. null: the SQL
   * decides.
   */
  readonly check: ((row: CheckedTexts) => boolean) | null;
  /**
   * The input of `check` besides the texts, selected as `marks`, with parameters as in `sql`. `null::text` if it needs
   * none.
   */
  marks(first: number): string;
  /** The same without decompressing anything, for when decompressing takes too long; null: nothing is decompressed. */
  readonly light: LightQuery | null;
  /** What all matching jobs have in common, for choosing an index. */
  readonly shape: QueryShape;
  /** `cheap`: an index finds the matches. `bounded`: needs a walk in bounded steps. */
  readonly cost: "cheap" | "bounded";
  /** Its terms one by one, for `explain`. */
  readonly terms: readonly TermCost[];
  /** The most useful missing optional index; null if none would help. */
  readonly indexHint: string | null;
  /** Names in it that do not exist, as `task:nmae`. */
  readonly unknown: readonly string[];
  /** Certain to match nothing: no statement is needed. */
  readonly isEmpty: boolean;
}

/** Its `sql` also matches rows that only decompressing decides. */
export interface LightQuery extends JobQuery {
  /** The condition that a row is one of them: `check` and `marks` do not apply to it. No parameters. */
  readonly undecided: string;
}

/** As a select item next to a query's condition. */
export const undecidedBy = (query: JobQuery): string =>
  "undecided" in query ? (query as LightQuery).undecided : "false";
