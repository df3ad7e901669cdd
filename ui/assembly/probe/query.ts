/** An entry for the tests only: what the query's parser makes of a text. It is not shipped. */
import { quote } from "../lib/json-writer";
import { parseQuery } from "../query/parser";
import { NodeKind, QueryNode, QueryValue, ValueKind } from "../query/tree";

/** As test/contract/query-dump.ts prints it. */
export function parsedAsText(text: string): string {
  const parsed = parseQuery(text);
  const fault = parsed.fault;
  if (fault) {
    const code = fault.tooWide ? "query_too_wide" : "bad_input";
    const suggestion = fault.suggestion;
    const hint = suggestion === null ? "" : " → " + quote(suggestion);
    return `!${code} ${fault.at}-${fault.end} ${fault.message}${hint}`;
  }
  const tree = parsed.tree;
  return tree ? dump(tree) : "";
}

function dump(node: QueryNode): string {
  const span = `@${node.at}-${node.end}`;
  if (node.kind === NodeKind.Text) {
    return `(${node.quoted ? "quoted" : "text"}${span} ${quote(node.text)})`;
  }
  if (node.kind === NodeKind.Field) {
    let path = "";
    for (let i = 0; i < node.path.length; i++) {
      const step = node.path[i];
      path += `[${step.index < 0 ? quote(step.name) : step.index.toString()}]`;
    }
    const values = node.values.map<string>((value) => dumpValue(value)).join(" ");
    return `(${node.field}${path}${span} ${node.op} ${values})`;
  }
  const name = node.kind === NodeKind.And ? "and" : node.kind === NodeKind.Or ? "or" : "not";
  return `(${name}${span} ${node.items.map<string>((item) => dump(item)).join(" ")})`;
}

function dumpValue(value: QueryValue): string {
  const low = value.low;
  const high = value.high;
  if (low && high) return dumpValue(low) + ".." + dumpValue(high);
  switch (value.kind) {
    case ValueKind.None:
      return "none";
    case ValueKind.Number:
      return "number=" + value.text;
    case ValueKind.Age:
      return "age=" + value.text;
    case ValueKind.Time:
      return "time=" + value.text;
    default: {
      const kind = value.quoted ? "quoted" : "text";
      return `${kind}=${quote(value.text)}${value.prefix ? "*" : ""}`;
    }
  }
}
