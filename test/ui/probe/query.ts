/** An entry point for tests, which is not shipped. It runs the parser of queries as it is compiled for the page. */
import { parseQuery } from "../../../src/domain/portable/query/parser";
import { ParsedNode, ParsedValue } from "../../../src/domain/portable/query/tree";
import { quote } from "../../../ui/assembly/lib/json-writer";

/**
 * Parses `text`. Returns the tree or the error as one line, in the form of test/contract/query-dump.ts; empty for an
 * empty query. `conditions`: the conditions of a job that `is:` accepts, separated by spaces.
 */
export function parsedAsText(text: string, conditions: string): string {
  const parsed = parseQuery(text, conditions.split(" "));
  const fault = parsed.fault;
  if (fault) {
    const code = fault.isTooWide ? "query_too_wide" : "bad_input";
    const suggestion = fault.suggestion;
    const hint = suggestion === null ? "" : " → " + quote(suggestion);
    return `!${code} ${fault.at}-${fault.end} ${fault.message}${hint}`;
  }
  const tree = parsed.tree;
  return tree ? dump(tree) : "";
}

function dump(node: ParsedNode): string {
  const span = `@${node.at}-${node.end}`;
  if (node.kind === "text") {
    return `(${node.isQuoted ? "quoted" : "text"}${span} ${quote(node.text)})`;
  }
  if (node.kind === "field") {
    let path = "";
    for (let i = 0; i < node.path.length; i++) {
      const step = node.path[i];
      path += `[${step.index < 0 ? quote(step.name) : step.index.toString()}]`;
    }
    const values = node.values.map<string>((value) => dumpValue(value)).join(" ");
    return `(${node.field}${path}${span} ${node.op} ${values})`;
  }
  return `(${node.kind}${span} ${node.items.map<string>((item) => dump(item)).join(" ")})`;
}

function dumpValue(value: ParsedValue): string {
  const low = value.low;
  const high = value.high;
  if (low && high) return dumpValue(low) + ".." + dumpValue(high);
  if (value.kind === "none") return value.kind;
  if (value.kind !== "text") return `${value.kind}=${value.text}`;
  const kind = value.isQuoted ? "quoted" : "text";
  return `${kind}=${quote(value.text)}${value.isPrefix ? "*" : ""}`;
}
