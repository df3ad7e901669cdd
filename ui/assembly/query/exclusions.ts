/** "Everything in which a text is not" can only be answered by reading every text there is. */
import { NodeKind, QueryNode, ValueKind } from "./tree";

/** The first exclusion of a node that consists of nothing else; null for any other node. */
export function exclusionOnly(node: QueryNode): QueryNode | null {
  if (node.kind === NodeKind.Not) return readsText(node.items[0]) ? node : null;
  if (node.kind === NodeKind.Field) return node.op === "!=" && readsText(node) ? node : null;
  if (node.kind === NodeKind.Text) return null;
  let first: QueryNode | null = null;
  for (let i = 0; i < node.items.length; i++) {
    const found = exclusionOnly(node.items[i]);
    if (!found && node.kind === NodeKind.And) return null;
    if (!first) first = found;
  }
  return first;
}

function readsText(node: QueryNode): bool {
  if (node.kind === NodeKind.Text) return true;
  if (node.kind === NodeKind.Field) {
    const long = ["error", "group", "payload"].includes(node.field);
    return long && node.values[0].kind !== ValueKind.None;
  }
  for (let i = 0; i < node.items.length; i++) if (readsText(node.items[i])) return true;
  return false;
}
