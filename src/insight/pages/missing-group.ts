// Determines whether no job has the error group of a query. A query names the group by a fingerprint, which is a hash.
// So only a complete search of the jobs can show that no job has the group.
import { InputError } from "../../base/errors.ts";
import { isFingerprint } from "../../domain/error-group.ts";
import { parseQuery } from "../../domain/query/parse-query.ts";
import { printQuery } from "../../domain/query/print-query.ts";
import type { FieldTerm, QueryNode } from "../../domain/query/query-tree.ts";

/**
 * Returns the term of `q` that names an error group, such as `group:0123456789ab`, if no job has that group. Returns
 * null if a job may have the group, or if `q` has no such term or several. `q`: a query that no job matches. `isNone`:
 * returns whether it is certain that no job matches a query. isNone() is called with a query for the jobs that have the
 * group and do not match the other terms of `q`.
 */
export async function missingGroup(
  q: string,
  isNone: (q: string) => Promise<boolean>,
): Promise<string | null> {
  const tree = parseQuery(q);
  const items = tree?.kind === "and" ? tree.items : [tree];
  const [term, ...others] = items.toSorted((a, b) => Number(isGroup(b)) - Number(isGroup(a)));
  if (term == null || !isGroup(term) || others.some(isGroup)) return null;
  const rest = others.filter((one) => one !== null);
  if (rest.length === 0) return printQuery(term);
  const span = { at: 0, end: 0 };
  const [only] = rest;
  const item: QueryNode =
    rest.length === 1 && only !== undefined ? only : { kind: "and", items: rest, ...span };
  const excluded: QueryNode = { kind: "not", item, ...span };
  const elsewhere = printQuery({ kind: "and", items: [term, excluded], ...span });
  try {
    return (await isNone(elsewhere)) ? printQuery(term) : null;
  } catch (error) {
    // The query `elsewhere` is longer than `q`, and may be too long.
    if (error instanceof InputError) return null;
    throw error;
  }
}

function isGroup(node: QueryNode | null): node is FieldTerm {
  if (node?.kind !== "field" || node.field !== "group" || node.op === "!=") return false;
  const [value, ...others] = node.values;
  return others.length === 0 && value?.kind === "text" && isFingerprint(value.text);
}
