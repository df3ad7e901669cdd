// Prints the tree of a query as text. The parser turns this text into the same tree; only the places of the nodes in
// the text may differ.
import { quote } from "../portable/query/quote.ts";
import type { PathStep, QueryNode, QueryValue } from "./query-tree.ts";

export function printQuery(node: QueryNode): string {
  switch (node.kind) {
    case "text":
      return node.isQuoted ? quote(node.text) : node.text;
    case "not":
      return `-${node.item.kind === "text" || node.item.kind === "field" ? printQuery(node.item) : inBrackets(node.item)}`;
    case "field":
      return `${node.field}${node.path.map(printStep).join("")}${node.op}${node.values.map(printValue).join(",")}`;
    case "and":
      return node.items
        .map((item) => (isGroup(item) ? inBrackets(item) : printQuery(item)))
        .join(" ");
    case "or":
      return node.items
        .map((item) => (item.kind === "or" ? inBrackets(item) : printQuery(item)))
        .join(" or ");
    default:
      return node satisfies never;
  }
}

const isGroup = ({ kind }: QueryNode) => kind === "and" || kind === "or";

const inBrackets = (node: QueryNode) => `(${printQuery(node)})`;

function printStep(step: PathStep): string {
  if (typeof step === "number") return `[${step}]`;
  return `.${/^[\w$@/-]+$/.test(step) ? step : quote(step)}`;
}

function printValue(value: QueryValue): string {
  if (value.kind === "none") return "none";
  if (value.kind === "range") return `${value.low.text}..${value.high.text}`;
  if (value.kind !== "text") return value.text;
  return (value.isQuoted ? quote(value.text) : value.text) + (value.isPrefix ? "*" : "");
}
