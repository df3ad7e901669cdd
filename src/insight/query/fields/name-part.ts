// Compiles the terms of the query fields `task`, `queue`, `key` and `worker`. Each value of such a term is a whole
// text, a prefix, or `none`.
import type { FieldTerm, QueryValue, TextValue } from "../../../domain/query/query-tree.ts";
import { isNamed } from "../facts/names.ts";
import type { Parameters } from "../parts/parameters.ts";
import { allOf, anyOf, type QueryPart, sqlPart } from "../parts/part.ts";
import {
  BOUNDED,
  CHEAP,
  type CostFacts,
  type FieldCost,
  hasNone,
  type QueryFacts,
} from "./field.ts";
import { LOCKED } from "./is-part.ts";
import { equalPart, prefixPart } from "./text-part.ts";

const isText = (value: QueryValue): value is TextValue => value.kind === "text";

export function namePart(term: FieldTerm, parameters: Parameters, known: QueryFacts): QueryPart {
  const { field } = term;
  const rows = known.names.filter(({ is_task }) => is_task === (field === "task"));
  const ids = new Set<number>();
  for (const value of term.values.filter(isText)) {
    const found = rows.filter(({ name }) => isNamed(value, name));
    if (found.length === 0) {
      known.unknown.push(`${field}:${value.text}${value.isPrefix ? "*" : ""}`);
    }
    for (const { id } of found) ids.add(id);
  }
  const column = field === "task" ? "jobs.task_id" : "jobs.job_queue_id";
  const list = [...ids];
  const shape = field === "task" ? { taskIds: list } : { queueIds: list };
  return anyOf([
    ...(list.length === 0
      ? []
      : [sqlPart(`(${column} = any(${parameters.add(list, "int[]")}))`, shape)]),
    ...(hasNone(term) ? [sqlPart(`(${column} is null)`)] : []),
  ]);
}

export function keyPart(term: FieldTerm, parameters: Parameters, known: QueryFacts): QueryPart {
  const values = term.values.filter(isText);
  const keys = values.filter(({ isPrefix }) => !isPrefix).map(({ text }) => text);
  const prefixes = values.filter(({ isPrefix }) => isPrefix).map(({ text }) => text);
  const [key] = keys;
  const exact =
    keys.length === 1 && key !== undefined
      ? sqlPart(`(jobs.key = ${parameters.add(key, "text")})`, { key })
      : equalPart("jobs.key", keys, parameters);
  return anyOf([
    exact,
    ...prefixes.map((prefix) => beginningPart(prefix, parameters, known)),
    ...(hasNone(term) ? [sqlPart("(jobs.key is null)")] : []),
  ]);
}

/**
 * Returns the condition that a key begins with `prefix`. If the keys with this prefix are a range of the index of keys,
 * the condition also contains this range.
 */
function beginningPart(prefix: string, parameters: Parameters, known: QueryFacts): QueryPart {
  const begins = prefixPart("jobs.key", [prefix], parameters);
  const range = known.keyRanges.get(prefix);
  if (range === undefined) return begins;
  const from = parameters.add(range.from, "text");
  const to = parameters.add(range.to, "text");
  const sql = `jobs.key >= ${from} and jobs.key < ${to}`;
  return allOf([sqlPart(sql, { ids: range.ids }), begins]);
}

export function workerPart(term: FieldTerm, parameters: Parameters): QueryPart {
  const values = term.values.filter(isText);
  const whole = values.filter(({ isPrefix }) => !isPrefix).map(({ text }) => text);
  const prefixes = values.filter(({ isPrefix }) => isPrefix).map(({ text }) => text);
  const named = anyOf([
    equalPart("jobs.locked_by", whole, parameters),
    prefixPart("jobs.locked_by", prefixes, parameters),
  ]);
  return anyOf([
    ...(values.length === 0 ? [] : [allOf([LOCKED, named])]),
    ...(hasNone(term) ? [sqlPart("(jobs.locked_by is null)")] : []),
  ]);
}

export function keyCost({ values }: FieldTerm, facts: CostFacts): FieldCost {
  const isIndexed = values.every(
    (value) => value.kind === "text" && (!value.isPrefix || facts.keyRanges.has(value.text)),
  );
  return isIndexed ? CHEAP : BOUNDED;
}
