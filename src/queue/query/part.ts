// A piece of a compiled query: what SQL can say of it, and what only the row's texts decide. `sql` is
// always necessary, so that it may narrow a walk down; `decided` says whether it is sufficient, too.
import type { CheckedTexts, QueryShape } from "./job-query.ts";
import { ANY_SHAPE, bothOf, eitherOf } from "./shape.ts";

export type Part = SqlPart | TextsPart | MixedPart;

/** SQL decides. */
export interface SqlPart {
  readonly kind: "sql";
  readonly sql: string;
  readonly shape: QueryShape;
}

/** The texts decide; `sql` leaves over what is worth a look. */
export interface TextsPart {
  readonly kind: "texts";
  readonly sql: string;
  readonly shape: QueryShape;
  readonly decide: (row: CheckedTexts) => boolean;
}

/** Both, joined. */
export interface MixedPart {
  readonly kind: "and" | "or" | "not";
  readonly sql: string;
  readonly shape: QueryShape;
  readonly items: readonly Part[];
}

export const ALL = sqlPart("true");
export const NONE = sqlPart("false");

export function sqlPart(sql: string, shape: Partial<QueryShape> = {}): SqlPart {
  return { kind: "sql", sql, shape: { ...ANY_SHAPE, ...shape } };
}

export function allOf(parts: readonly Part[]): Part {
  const items = parts.filter((part) => !isConstant(part, "true"));
  if (items.some((part) => isConstant(part, "false"))) return NONE;
  const [first] = items;
  if (first === undefined) return ALL;
  if (items.length === 1) return first;
  const sql = items.map(({ sql }) => sql).filter((sql) => sql !== "true");
  const shape = items.map((item) => item.shape).reduce(bothOf);
  return joinedPart("and", items, sql.length === 0 ? "true" : `(${sql.join(" and ")})`, shape);
}

export function anyOf(parts: readonly Part[]): Part {
  const items = parts.filter((part) => !isConstant(part, "false"));
  if (items.some((part) => isConstant(part, "true"))) return ALL;
  const [first] = items;
  if (first === undefined) return NONE;
  if (items.length === 1) return first;
  const isNarrow = items.every(({ sql }) => sql !== "true");
  const sql = isNarrow ? `(${items.map(({ sql }) => sql).join(" or ")})` : "true";
  return joinedPart("or", items, sql, items.map((item) => item.shape).reduce(eitherOf));
}

/** A row of which PostgreSQL cannot say whether the part holds (null) is one of which it does not. */
export function noneOf(part: Part): Part {
  if (isConstant(part, "true")) return NONE;
  if (isConstant(part, "false")) return ALL;
  if (part.kind === "sql") return sqlPart(`(${part.sql} is not true)`);
  return { kind: "not", items: [part], sql: "true", shape: ANY_SHAPE };
}

function joinedPart(
  kind: "and" | "or",
  items: readonly Part[],
  sql: string,
  shape: QueryShape,
): Part {
  const isDecided = items.every((item) => item.kind === "sql");
  return isDecided ? { kind: "sql", sql, shape } : { kind, items, sql, shape };
}

const isConstant = (part: Part, sql: "true" | "false") => part.kind === "sql" && part.sql === sql;
