// Parses a query. The parser (portable/query) is also compiled by AssemblyScript, which has no union types. So the
// parser has one class for all nodes of the tree. This file converts the nodes to a union type.
import { shownConditions } from "../condition.ts";
import { parseQuery as parse } from "../portable/query/parser.ts";
import type { ParsedNode, ParsedValue } from "../portable/query/tree.ts";
import { QueryError } from "./query-error.ts";
import type {
  MomentValue,
  NumberValue,
  Operator,
  QueryNode,
  QueryValue,
  RangeValue,
} from "./query-tree.ts";

/** Returns the tree of a query; null for an empty query. Throws QueryError. */
export function parseQuery(text: string): QueryNode | null {
  const { tree, fault } = parse(text, [...shownConditions]);
  if (fault !== null) {
    const { at, end, message, suggestion, isTooWide } = fault;
    const code = isTooWide ? "query_too_wide" : "bad_input";
    throw new QueryError({ at, end }, message, suggestion, code);
  }
  return tree === null ? null : typedNode(tree);
}

function typedNode(node: ParsedNode): QueryNode {
  const { kind, at, end, items, text, isQuoted } = node;
  switch (kind) {
    case "and":
    case "or":
      return { kind, items: items.map(typedNode), at, end };
    case "not":
      return { kind, item: onlyOf(items.map(typedNode)), at, end };
    case "text":
      return { kind, text, isQuoted, at, end };
    default:
      return {
        kind: "field",
        field: node.field,
        path: node.path.map(({ name, index }) => (index < 0 ? name : index)),
        op: node.op as Operator,
        values: node.values.map(typedValue),
        at,
        end,
      };
  }
}

function onlyOf([item]: readonly QueryNode[]): QueryNode {
  if (item === undefined) throw new Error("an exclusion has an item");
  return item;
}

function typedValue({
  kind,
  text,
  at,
  end,
  isQuoted,
  isPrefix,
  low,
  high,
}: ParsedValue): QueryValue {
  if (kind === "none") return { kind, at, end };
  if (kind === "text") return { kind, text, isQuoted, isPrefix, at, end };
  if (low === null || high === null) return { kind, text, at, end } as NumberValue | MomentValue;
  return { kind: "range", low: typedValue(low), high: typedValue(high), at, end } as RangeValue;
}
