// Finds queries that only exclude texts, such as `-error:timeout`. The parser refuses them, because every job would
// have to be read.
import { fieldNamed } from "./fields.ts";
import { ParsedNode } from "./tree.ts";

/** If the node, or an alternative of an `or`, only excludes texts, returns its first exclusion; otherwise null. */
export function exclusionOnly(node: ParsedNode): ParsedNode | null {
  if (node.kind === "not") return readsText(node.items[0]!) ? node : null;
  if (node.kind === "field") return node.op === "!=" && readsText(node) ? node : null;
  if (node.kind === "text") return null;
  let first: ParsedNode | null = null;
  for (let i = 0; i < node.items.length; i++) {
    const found = exclusionOnly(node.items[i]!);
    if (found === null && node.kind === "and") return null;
    if (first === null) first = found;
  }
  return first;
}

function readsText(node: ParsedNode): bool {
  if (node.kind === "text") return true;
  if (node.kind === "field") {
    const field = fieldNamed(node.field);
    return field !== null && field.readsTexts && node.values[0]!.kind !== "none";
  }
  for (let i = 0; i < node.items.length; i++) if (readsText(node.items[i]!)) return true;
  return false;
}
