// How each term of a query is answered, and which optional index would make it cheap. `cheap`: an
// index leads to the matches, in some order; `bounded`: a walk in steps.
import { isOrder } from "../../domain/portable/query/fields.ts";
import type { FieldTerm, QueryNode } from "../../domain/query/query-tree.ts";
import type { WordMeanings } from "./facts/names.ts";
import type { TermCost } from "./job-query.ts";
import { textsOf } from "./text-part.ts";

export interface CostFacts {
  readonly text: string;
  /** Beginnings of keys that their index can follow. */
  readonly keyRanges: ReadonlyMap<string, unknown>;
  /** What bare words turned out to be the names of. */
  readonly meanings: ReadonlyMap<string, WordMeanings>;
  /** Optional indexes that are there. */
  readonly indexes: ReadonlySet<string>;
}

type Cost = Pick<TermCost, "cost" | "index">;

const CHEAP: Cost = { cost: "cheap", index: null };
const BOUNDED: Cost = { cost: "bounded", index: null };
const CHECK: Cost = { cost: "check", index: null };

/** The terms from left to right. */
export function termCosts(node: QueryNode | null, facts: CostFacts): TermCost[] {
  return node === null ? [] : costsOf(node, facts, false);
}

function costsOf(node: QueryNode, facts: CostFacts, isExcluded: boolean): TermCost[] {
  if (node.kind === "not") return costsOf(node.item, facts, true);
  if (node.kind !== "text" && node.kind !== "field") {
    return node.items.flatMap((item) => costsOf(item, facts, isExcluded));
  }
  const { at, end } = node;
  return [{ term: facts.text.slice(at, end), at, end, ...leafCost(node, facts, isExcluded) }];
}

/** Whether an index leads to all matches: by one term that says enough, or by each for its part. */
export function isCheap(node: QueryNode | null, facts: CostFacts): boolean {
  if (node === null) return true;
  if (node.kind === "not") return false;
  if (node.kind === "text" || node.kind === "field") {
    return leafCost(node, facts, false).cost === "cheap";
  }
  const isOne = node.kind === "and" && node.items.some((item) => isSingular(item, facts));
  return isOne || node.items.every((item) => isCheap(item, facts));
}

/** Few jobs at most: an id, a key. */
function isSingular(node: QueryNode, facts: CostFacts): boolean {
  if (node.kind === "text") return hasOneJob(node, facts);
  if (node.kind !== "field" || node.op === "!=" || isOrder(node.op)) return false;
  const isWhole = (kind: string) => kind === "number" || kind === "text";
  return (
    (node.field === "id" || node.field === "key") &&
    node.values.every((value) => isWhole(value.kind) && !("isPrefix" in value && value.isPrefix))
  );
}

function leafCost(
  node: Extract<QueryNode, { kind: "text" | "field" }>,
  facts: CostFacts,
  isExcluded: boolean,
): Cost {
  if (node.kind === "text") {
    if (isExcluded) return BOUNDED;
    if (hasOneJob(node, facts)) return CHEAP;
    const meaning = node.isQuoted ? undefined : facts.meanings.get(node.text);
    if (meaning?.task_id != null) return helped("task", facts);
    return meaning?.queue_id == null ? BOUNDED : helped("queue", facts);
  }
  const cost = fieldCost(node, facts);
  return isExcluded || node.op === "!=" ? (cost.cost === "check" ? CHECK : BOUNDED) : cost;
}

function hasOneJob(node: Extract<QueryNode, { kind: "text" }>, facts: CostFacts): boolean {
  const meaning = node.isQuoted ? undefined : facts.meanings.get(node.text);
  return (
    meaning !== undefined &&
    (meaning.id !== null || meaning.key !== null) &&
    meaning.task_id === null &&
    meaning.queue_id === null
  );
}

/** Cheap where the index is there. */
function helped(index: string, { indexes }: CostFacts): Cost {
  return indexes.has(index) ? CHEAP : { cost: "bounded", index };
}

function fieldCost(term: FieldTerm, facts: CostFacts): Cost {
  const hasNone = term.values.some(({ kind }) => kind === "none");
  switch (term.field) {
    case "id":
    case "due":
      return CHEAP;
    case "key":
      return keyCost(term, facts);
    case "is":
      return isCost(textsOf(term), facts);
    case "task":
      return helped("task", facts);
    case "queue":
      return hasNone ? BOUNDED : helped("queue", facts);
    case "worker":
      return hasNone ? BOUNDED : helped("running", facts);
    case "running":
    case "failed":
      return helped(term.field, facts);
    case "group":
      return CHECK;
    case "payload":
      return term.path.length > 0 ? CHECK : BOUNDED;
    default:
      return BOUNDED;
  }
}

function keyCost({ values }: FieldTerm, facts: CostFacts): Cost {
  const isIndexed = values.every(
    (value) => value.kind === "text" && (!value.isPrefix || facts.keyRanges.has(value.text)),
  );
  return isIndexed ? CHEAP : BOUNDED;
}

const helpers: Readonly<Partial<Record<string, string>>> = {
  fetched: "running",
  running: "running",
  locked: "running",
  stuck: "running",
  failed: "failed",
  retrying: "retrying",
  blocked: "queue_ready",
};

function isCost(words: readonly string[], facts: CostFacts): Cost {
  const costs = words.map((word) => {
    const index = helpers[word];
    return index === undefined ? CHEAP : helped(index, facts);
  });
  return costs.find(({ cost }) => cost !== "cheap") ?? CHEAP;
}
