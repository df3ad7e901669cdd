// A field of the query language: its condition in SQL, its cost, its help text, and the facts that these depend on.
import type { FieldTerm } from "../../../domain/query/query-tree.ts";
import type { Heartbeats } from "../../expressions/heartbeats.ts";
import type { KeyRange } from "../facts/database-facts.ts";
import type { ErrorGroups } from "../facts/error-labels.ts";
import type { NamedRow, WordMeanings } from "../facts/names.ts";
import type { StuckHolders } from "../facts/stuck-holders.ts";
import type { Parameters } from "../parts/parameters.ts";
import type { QueryPart } from "../parts/part.ts";

export interface FieldSql {
  /** The help text beside its name in suggestions. */
  readonly note: string;
  /** Returns the condition of a term. `!=` is its negation, which fieldPart() builds. */
  readonly part: (term: FieldTerm, parameters: Parameters, known: QueryFacts) => QueryPart;
  readonly cost: (term: FieldTerm, facts: CostFacts) => FieldCost;
  /** Whether a value identifies at most one job. */
  readonly isUnique?: boolean;
}

/** The facts that the compiler uses to turn a term into SQL. */
export interface QueryFacts {
  readonly nowUs: bigint;
  readonly names: readonly NamedRow[];
  /** The ids of locked queues, as the text of an int[]. This, like `stuck`, is read only if the query depends on it. */
  readonly lockedQueues: string;
  readonly heartbeats: Heartbeats;
  readonly stuck: StuckHolders | null;
  /** The range of keys for each prefix in the query; empty if keys do not sort by code points. */
  readonly keyRanges: ReadonlyMap<string, KeyRange>;
  readonly errorGroups: ErrorGroups;
  /** Collects the terms with names and error groups that do not exist, such as `task:nmae`. */
  readonly unknown: string[];
}

export interface CostFacts {
  readonly text: string;
  /** Has the prefixes in the query that the index of keys can find. */
  readonly keyRanges: ReadonlyMap<string, unknown>;
  /** The meanings of words without a field. */
  readonly meanings: ReadonlyMap<string, WordMeanings>;
  /** The names of existing optional indexes. */
  readonly indexes: ReadonlySet<string>;
}

/** The cost of one term. */
export interface TermCost {
  /** The term as typed, and its position in the query. */
  readonly term: string;
  readonly at: number;
  readonly end: number;
  /** As in term-cost.ts. `check`: this process reads the texts of each job that the other terms do not exclude. */
  readonly cost: "cheap" | "bounded" | "check";
  /** The optional index that would make the term cheap; null: none would, or it is cheap already. */
  readonly index: string | null;
}

export type FieldCost = Pick<TermCost, "cost" | "index">;

export const CHEAP: FieldCost = { cost: "cheap", index: null };
export const BOUNDED: FieldCost = { cost: "bounded", index: null };
export const CHECK: FieldCost = { cost: "check", index: null };

/** Returns the cost of a term that is cheap if the index exists. */
export function costWith(index: string, { indexes }: CostFacts): FieldCost {
  return indexes.has(index) ? CHEAP : { cost: "bounded", index };
}

export const hasNone = ({ values }: FieldTerm): boolean =>
  values.some(({ kind }) => kind === "none");
