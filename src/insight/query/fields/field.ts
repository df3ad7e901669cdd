// A field of the query language in SQL: its condition, its cost, its help text.
import type { FieldTerm } from "../../../domain/query/query-tree.ts";
import type { Heartbeats } from "../../../queue/sql/condition.ts";
import type { KeyRange } from "../facts/database-facts.ts";
import type { ErrorGroups } from "../facts/error-labels.ts";
import type { NamedRow, WordMeanings } from "../facts/names.ts";
import type { StuckHolders } from "../facts/stuck-holders.ts";
import type { Parameters } from "../parts/parameters.ts";
import type { QueryPart } from "../parts/part.ts";

export interface FieldSql {
  /** Shown next to its name in suggestions. */
  readonly note: string;
  /** The condition of a term; `!=` is its negation, which is built elsewhere. */
  readonly part: (term: FieldTerm, parameters: Parameters, known: QueryFacts) => QueryPart;
  readonly cost: (term: FieldTerm, facts: CostFacts) => FieldCost;
  /** A value identifies at most one job. */
  readonly isUnique?: boolean;
}

/** The facts that the compiler uses to turn a term into SQL. */
export interface QueryFacts {
  readonly nowUs: bigint;
  readonly names: readonly NamedRow[];
  /** The text of an int[]. */
  readonly lockedQueues: string;
  readonly heartbeats: Heartbeats;
  readonly stuck: StuckHolders | null;
  /** By prefix; empty if the index on keys has another order. */
  readonly keyRanges: ReadonlyMap<string, KeyRange>;
  readonly errorGroups: ErrorGroups;
  /** Collects names that do not exist, as `task:nmae`. */
  readonly unknown: string[];
}

export interface CostFacts {
  readonly text: string;
  /** Prefixes of keys that their index supports. */
  readonly keyRanges: ReadonlyMap<string, unknown>;
  /** The resolved meanings of bare words. */
  readonly meanings: ReadonlyMap<string, WordMeanings>;
  /** Existing optional indexes. */
  readonly indexes: ReadonlySet<string>;
}

/** The cost of one term. */
export interface TermCost {
  /** As typed, and its position. */
  readonly term: string;
  readonly at: number;
  readonly end: number;
  /** `check`: every job left over by the other terms is read, and its texts are checked. */
  readonly cost: "cheap" | "bounded" | "check";
  /** The optional index that makes it cheap; null: none does, or it is cheap. */
  readonly index: string | null;
}

export type FieldCost = Pick<TermCost, "cost" | "index">;

export const CHEAP: FieldCost = { cost: "cheap", index: null };
export const BOUNDED: FieldCost = { cost: "bounded", index: null };
export const CHECK: FieldCost = { cost: "check", index: null };

/** Cheap if the index exists. */
export function costWith(index: string, { indexes }: CostFacts): FieldCost {
  return indexes.has(index) ? CHEAP : { cost: "bounded", index };
}

export const hasNone = ({ values }: FieldTerm): boolean =>
  values.some(({ kind }) => kind === "none");
