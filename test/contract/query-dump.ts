// Writes the tree of a query as one line, which the tests compare with queries.json. test/ui/probe/query.ts writes the
// tree of the client's parser in the same form.
import { parseQuery } from "../../src/domain/query/parse-query.ts";
import { QueryError } from "../../src/domain/query/query-error.ts";
import type { QueryNode, QueryValue } from "../../src/domain/query/query-tree.ts";

/** Returns the query's tree; empty for an empty query; for an invalid one, `!code at-end message → suggestion`. */
export function parsedAsText(text: string): string {
  try {
    const tree = parseQuery(text);
    return tree === null ? "" : dump(tree);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const { code, at, end, suggestion, problems } = error;
    const hint = suggestion === null ? "" : ` → ${JSON.stringify(suggestion)}`;
    return `!${code} ${at}-${end} ${problems[0]?.message}${hint}`;
  }
}

function dump(node: QueryNode): string {
  const span = `@${node.at}-${node.end}`;
  switch (node.kind) {
    case "and":
    case "or":
      return `(${node.kind}${span} ${node.items.map(dump).join(" ")})`;
    case "not":
      return `(not${span} ${dump(node.item)})`;
    case "text":
      return `(${node.isQuoted ? "quoted" : "text"}${span} ${JSON.stringify(node.text)})`;
    default: {
      const path = node.path.map((step) => `[${JSON.stringify(step)}]`).join("");
      return `(${node.field}${path}${span} ${node.op} ${node.values.map(dumpValue).join(" ")})`;
    }
  }
}

function dumpValue(value: QueryValue): string {
  if (value.kind === "none") return "none";
  if (value.kind === "range") return `${dumpValue(value.low)}..${dumpValue(value.high)}`;
  if (value.kind !== "text") return `${value.kind}=${value.text}`;
  const kind = value.isQuoted ? "quoted" : "text";
  return `${kind}=${JSON.stringify(value.text)}${value.isPrefix ? "*" : ""}`;
}
