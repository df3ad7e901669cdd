// Makes the meaning of a query's words explicit. A word means the job with this id, the job with this key, and the task
// and queue of this name. If there is none of these, the word means a text anywhere in a job. Without explicit
// meanings, the word `123` would mean job 123 only while that job exists. If the query was compiled again later, it
// would match every job that contains 123.
import { printQuery } from "../../domain/query/print-query.ts";
import type { QueryNode, QueryValue, Span, TextTerm } from "../../domain/query/query-tree.ts";
import type { WordMeanings } from "./facts/names.ts";

/**
 * Returns the query with explicit meanings. `meaningOf` returns what has the word as its id, key or name; null if
 * nothing has.
 */
export function explicitQuery(
  text: string,
  tree: QueryNode,
  meaningOf: (term: TextTerm) => WordMeanings | null,
): string {
  const explicit = (node: QueryNode): QueryNode => {
    if (node.kind === "field") return node;
    if (node.kind === "text") return node.isQuoted ? node : explicitTerm(node, meaningOf(node));
    if (node.kind === "not") return { ...node, item: explicit(node.item) };
    return { ...node, items: node.items.map(explicit) };
  };
  return hasWords(tree) ? printQuery(explicit(tree)) : text;
}

function hasWords(node: QueryNode): boolean {
  if (node.kind === "field") return false;
  if (node.kind === "text") return !node.isQuoted;
  return node.kind === "not" ? hasWords(node.item) : node.items.some(hasWords);
}

function explicitTerm(term: TextTerm, meanings: WordMeanings | null): QueryNode {
  if (meanings === null) return { ...term, isQuoted: true };
  const { at, end, text } = term;
  const fields: [string, unknown][] = [
    ["id", meanings.id],
    ["key", meanings.key],
    ["task", meanings.task_id],
    ["queue", meanings.queue_id],
  ];
  const items = fields
    .filter(([, meaning]) => meaning !== null)
    .map(([field]) => fieldNode(field, text, { at, end }));
  const [only] = items;
  return items.length === 1 && only !== undefined ? only : { kind: "or", items, at, end };
}

function fieldNode(field: string, text: string, span: Span): QueryNode {
  const value: QueryValue =
    field === "id"
      ? { kind: "number", text, ...span }
      : { kind: "text", text, isQuoted: true, isPrefix: false, ...span };
  return { kind: "field", field, path: [], op: ":", values: [value], ...span };
}
