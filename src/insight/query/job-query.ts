// What a compiled query is: a condition on jobs whose SQL holds nothing but constants and parameters,
// with every name already resolved to an id. Whoever reads, counts, exports or changes "what matches"
// takes one of these.
import type { TermCost } from "./fields/field.ts";
import type { CheckedTexts } from "./parts/part.ts";
import type { QueryShape } from "./parts/shape.ts";

export type { CheckedTexts, QueryShape, TermCost };

export interface JobQuery {
  /** As it was typed, trimmed. Empty: every job. */
  readonly text: string;
  /**
   * The same with each bare word as what it means now: `key:"a"`, or `"a"` anywhere. For whoever
   * compiles it again later, when the job that a word names may be gone.
   */
  readonly explicit: string;
  /** The moment that `now` and ages in it mean, in microseconds since 1970: the database's, fixed once. */
  readonly nowUs: string;
  /**
   * A condition on a row of _private_jobs under the alias `jobs`, in parentheses; its parameters are
   * numbered from `first` on (2 = `$2`), and their values are `values`. `true` where all match.
   */
  sql(first: number): string;
  readonly values: readonly unknown[];
  /**
   * What PostgreSQL can only narrow down, decided on the row's texts: payload fields, error groups.
   * null: the SQL decides.
   */
  readonly check: ((row: CheckedTexts) => boolean) | null;
  /**
   * What `check` has to know beside the texts, to be selected as `marks`: with parameters as in `sql`.
   * `null::text` where it needs nothing more.
   */
  marks(first: number): string;
  /** The same without unpacking anything, where unpacking takes too long; null: nothing would be unpacked. */
  readonly light: LightQuery | null;
  /** What all matching jobs have in common, for choosing an index. */
  readonly shape: QueryShape;
  /** `cheap`: an index leads to the matches. `bounded`: has to walk, in bounded steps. */
  readonly cost: "cheap" | "bounded";
  /** Its terms one by one, for `explain`. */
  readonly terms: readonly TermCost[];
  /** The optional index that would help most; null = none would. */
  readonly indexHint: string | null;
  /** Names in it that nothing has, as `task:nmae`. Where they decide, nothing matches. */
  readonly unknown: readonly string[];
  /** Certain to match nothing: need not be asked. */
  readonly isEmpty: boolean;
}

/** Its `sql` lets those rows pass, too, that only unpacking decides. */
export interface LightQuery extends JobQuery {
  /** The condition that a row is one of them: neither `check` nor `marks` is for it. No parameters. */
  readonly undecided: string;
}

/** As a select item beside a query's condition. */
export const undecidedBy = (query: JobQuery): string =>
  "undecided" in query ? (query as LightQuery).undecided : "false";
