// What a field of the query language is to SQL: its condition, its cost, its help text.
import type { FieldTerm } from "../../../domain/query/query-tree.ts";
import type { Heartbeats } from "../../../queue/sql/condition.ts";
import type { KeyRange } from "../facts/database-facts.ts";
import type { ErrorGroups } from "../facts/error-labels.ts";
import type { NamedRow, WordMeanings } from "../facts/names.ts";
import type { StuckHolders } from "../facts/stuck-holders.ts";
import type { Parameters } from "../parts/parameters.ts";
import type { QueryPart } from "../parts/part.ts";

export interface FieldSql {
  /** What a suggestion of the field shows beside its name. */
  readonly note: string;
  /** The condition of a term; `!=` is its opposite, which is made elsewhere. */
  readonly part: (term: FieldTerm, parameters: Parameters, known: QueryFacts) => QueryPart;
  readonly cost: (term: FieldTerm, facts: CostFacts) => FieldCost;
  /** A value means one job at most. */
  readonly isUnique?: boolean;
}

/** What the compiler knows when it makes SQL of a term. */
export interface QueryFacts {
  readonly nowUs: bigint;
  readonly names: readonly NamedRow[];
  /** The text of an int[]. */
  readonly lockedQueues: string;
  readonly heartbeats: Heartbeats;
  readonly stuck: StuckHolders | null;
  /** By their beginning; none where the index on keys is in another order. */
  readonly keyRanges: ReadonlyMap<string, KeyRange>;
  readonly errorGroups: ErrorGroups;
  /** Names that nothing has are put here, as `task:nmae`. */
  readonly unknown: string[];
}

export interface CostFacts {
  readonly text: string;
  /** Beginnings of keys that their index can follow. */
  readonly keyRanges: ReadonlyMap<string, unknown>;
  /** What bare words turned out to be the names of. */
  readonly meanings: ReadonlyMap<string, WordMeanings>;
  /** Optional indexes that are there. */
  readonly indexes: ReadonlySet<string>;
}

/** How one term is answered. */
export interface TermCost {
  /** As it was typed, and where. */
  readonly term: string;
  readonly at: number;
  readonly end: number;
  /** `check`: every job that the others leave over is read, and its texts are looked at. */
  readonly cost: "cheap" | "bounded" | "check";
  /** The optional index that makes it cheap; null = none does, or it is. */
  readonly index: string | null;
}

export type FieldCost = Pick<TermCost, "cost" | "index">;

export const CHEAP: FieldCost = { cost: "cheap", index: null };
export const BOUNDED: FieldCost = { cost: "bounded", index: null };
export const CHECK: FieldCost = { cost: "check", index: null };

/** Cheap where the index exists. */
export function costWith(index: string, { indexes }: CostFacts): FieldCost {
  return indexes.has(index) ? CHEAP : { cost: "bounded", index };
}

export const hasNone = ({ values }: FieldTerm): boolean =>
  values.some(({ kind }) => kind === "none");
