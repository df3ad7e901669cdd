// Computes the cost of each term of a query, and the optional index that would make the term cheap. A term is `cheap`
// if an index finds its matches, and `bounded` if a walk through the jobs in steps finds them. A term is `check` if,
// during such a walk, this process must also read payloads or errors to decide which jobs match.
import { isOrder } from "../../../domain/portable/query/fields.ts";
import type { QueryNode } from "../../../domain/query/query-tree.ts";
import {
  BOUNDED,
  CHEAP,
  CHECK,
  type CostFacts,
  costWith,
  type FieldCost,
  type TermCost,
} from "./field.ts";
import { sqlOf } from "./index.ts";

/** Returns the costs of the terms, from left to right. */
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

/**
 * Whether a query, or a part of a query, is cheap: indexes find all its matches. An `or` is cheap if each of its parts
 * is cheap. An `and` is cheap if each of its parts is cheap, or if one of its parts is a singular term. A negation is
 * never cheap.
 */
export function isCheap(node: QueryNode | null, facts: CostFacts): boolean {
  if (node === null) return true;
  if (node.kind === "not") return false;
  if (node.kind === "text" || node.kind === "field") {
    return leafCost(node, facts, false).cost === "cheap";
  }
  const isOne = node.kind === "and" && node.items.some((item) => isSingular(item, facts));
  return isOne || node.items.every((item) => isCheap(item, facts));
}

/** Whether a part is a singular term: it matches at most a few jobs, as an id or a key does. */
function isSingular(node: QueryNode, facts: CostFacts): boolean {
  if (node.kind === "text") return hasOneJob(node, facts);
  if (node.kind !== "field" || node.op === "!=" || isOrder(node.op)) return false;
  const isWhole = (kind: string) => kind === "number" || kind === "text";
  return (
    sqlOf(node.field).isUnique === true &&
    node.values.every((value) => isWhole(value.kind) && !("isPrefix" in value && value.isPrefix))
  );
}

function leafCost(
  node: Extract<QueryNode, { kind: "text" | "field" }>,
  facts: CostFacts,
  isExcluded: boolean,
): FieldCost {
  if (node.kind === "text") {
    if (isExcluded) return BOUNDED;
    if (hasOneJob(node, facts)) return CHEAP;
    const meaning = node.isQuoted ? undefined : facts.meanings.get(node.text);
    if (meaning?.task_id != null) return costWith("task", facts);
    return meaning?.queue_id == null ? BOUNDED : costWith("queue", facts);
  }
  const cost = sqlOf(node.field).cost(node, facts);
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
