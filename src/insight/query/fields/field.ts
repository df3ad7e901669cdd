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
  /** The help text beside the field's name in suggestions. */
  readonly note: string;
  /** Returns the condition of a term. For `!=`, this is the condition for `:`, which fieldPart() negates. */
  readonly part: (term: FieldTerm, parameters: Parameters, known: QueryFacts) => QueryPart;
  readonly cost: (term: FieldTerm, facts: CostFacts) => FieldCost;
  /** Whether at most one job has a given value of the field. */
  readonly isUnique?: boolean;
}

/** The facts from which the compiler makes SQL. */
export interface QueryFacts {
  readonly nowUs: bigint;
  readonly names: readonly NamedRow[];
  /** The ids of locked queues, as the text of an int[]; `{}` if the query does not depend on them. */
  readonly lockedQueues: string;
  readonly heartbeats: Heartbeats;
  /** Null if the query does not contain `is:stuck`. */
  readonly stuck: StuckHolders | null;
  /** The range of job keys for each prefix, as in `key:user-*`. A prefix may be missing. */
  readonly keyRanges: ReadonlyMap<string, KeyRange>;
  readonly errorGroups: ErrorGroups;
  /** Collects the terms whose name or error group does not exist, such as `task:nmae`. */
  readonly unknown: string[];
}

export interface CostFacts {
  readonly text: string;
  /** By the prefix in a term such as `key:user-*`. Contains a prefix if an index finds the jobs with such keys. */
  readonly keyRanges: ReadonlyMap<string, unknown>;
  /** The meanings of words without a field. */
  readonly meanings: ReadonlyMap<string, WordMeanings>;
  /** The names of existing optional indexes. */
  readonly indexes: ReadonlySet<string>;
}

/** The cost of one term. */
export interface TermCost {
  /** The term as typed. */
  readonly term: string;
  /** The term's position in the query; `end` is exclusive. */
  readonly at: number;
  readonly end: number;
  /** `cheap`: an index finds the matches. `bounded`: the table is searched in steps. `check`: these steps also read texts. */
  readonly cost: "cheap" | "bounded" | "check";
  /** The missing optional index that would make the term cheap; null if there is none. */
  readonly index: string | null;
}

export type FieldCost = Pick<TermCost, "cost" | "index">;

export const CHEAP: FieldCost = { cost: "cheap", index: null };
export const BOUNDED: FieldCost = { cost: "bounded", index: null };
export const CHECK: FieldCost = { cost: "check", index: null };

/** Returns the cost of a term that is cheap if the index exists, and bounded if not. */
export function costWith(index: string, { indexes }: CostFacts): FieldCost {
  return indexes.has(index) ? CHEAP : { cost: "bounded", index };
}

export const hasNone = ({ values }: FieldTerm): boolean =>
  values.some(({ kind }) => kind === "none");
