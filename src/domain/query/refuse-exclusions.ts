// "Everything in which a text is not" can only be answered by reading every text there is.

import { tooWide } from "./query-error.ts";
import type { QueryNode } from "./query-tree.ts";

/** Throws QueryError where a branch of the query says nothing but which texts are not wanted. */
export function refuseExclusionsOnly(node: QueryNode): void {
  const exclusion = exclusionOnly(node);
  if (exclusion === null) return;
  const message =
    "this only excludes texts, so every job would be read; add what to look for, such as is:failed";
  throw tooWide(exclusion, message);
}

/** The first exclusion of a node that consists of nothing else; null for any other node. */
function exclusionOnly(node: QueryNode): QueryNode | null {
  if (node.kind === "not") return readsText(node.item) ? node : null;
  if (node.kind === "field") return node.op === "!=" && readsText(node) ? node : null;
  if (node.kind === "text") return null;
  const found = node.items.map(exclusionOnly);
  if (node.kind === "or") return found.find((one) => one !== null) ?? null;
  return found.includes(null) ? null : (found[0] ?? null);
}

function readsText(node: QueryNode): boolean {
  if (node.kind === "text") return true;
  if (node.kind === "not") return readsText(node.item);
  if (node.kind !== "field") return node.items.some(readsText);
  return ["error", "group", "payload"].includes(node.field) && node.values[0]?.kind !== "none";
}
