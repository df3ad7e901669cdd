// A part of a compiled query: one or several terms. Each row that matches a part fulfils the part's `sql`. Unless the
// part is of the kind `sql`, this process then decides from the row's texts whether the row matches (row-check.ts).
import { ANY_SHAPE, bothOf, eitherOf, type QueryShape } from "./shape.ts";

export interface CheckedTexts {
  readonly payload: string;
  readonly last_error: string | null;
  /** The value of the query's select item `marks` for this row. Can be absent if that item is `null::text`. */
  readonly marks?: string | null;
}

export type QueryPart = SqlPart | TextsPart | MixedPart;

interface Condition {
  readonly sql: string;
  readonly shape: QueryShape;
  /** The large values that `sql` or the marks may read; null: none. */
  readonly reading: LargeValues | null;
}

/** The values that a part reads and that may be compressed. */
export interface LargeValues {
  readonly columns: readonly string[];
  /** An SQL condition that decompresses nothing and that every match of the part fulfils. */
  readonly beside: string;
}

/** A part for which SQL alone decides. */
export interface SqlPart extends Condition {
  readonly kind: "sql";
}

/** A part for which `sql` selects candidates, which decide() then checks. */
export interface TextsPart extends Condition {
  readonly kind: "texts";
  readonly decide: (row: CheckedTexts) => boolean;
}

/** Several parts joined by `and` or `or`, or one negated part. */
export interface MixedPart extends Condition {
  readonly kind: "and" | "or" | "not";
  readonly items: readonly QueryPart[];
}

export const ALL = sqlPart("true");
export const NONE = sqlPart("false");

export function sqlPart(sql: string, shape: Partial<QueryShape> = {}): SqlPart {
  return { kind: "sql", sql, shape: { ...ANY_SHAPE, ...shape }, reading: null };
}

/** Returns a part for a condition that reads a column whose values may be compressed. */
export function readingPart(sql: string, column: string): SqlPart {
  return { ...sqlPart(sql), reading: readingOf(column) };
}

export const readingOf = (column: string): LargeValues => ({ columns: [column], beside: "true" });

export function allOf(parts: readonly QueryPart[]): QueryPart {
  const items = parts.filter((part) => !isConstant(part, "true"));
  if (items.some((part) => isConstant(part, "false"))) return NONE;
  const [first] = items;
  if (first === undefined) return ALL;
  if (items.length === 1) return first;
  const shape = items.map((item) => item.shape).reduce(bothOf);
  return joinedPart("and", items, everyOf(items.map(({ sql }) => sql)), shape);
}

export function anyOf(parts: readonly QueryPart[]): QueryPart {
  const items = parts.filter((part) => !isConstant(part, "false"));
  if (items.some((part) => isConstant(part, "true"))) return ALL;
  const [first] = items;
  if (first === undefined) return NONE;
  if (items.length === 1) return first;
  const shape = items.map((item) => item.shape).reduce(eitherOf);
  return joinedPart("or", items, someOf(items.map(({ sql }) => sql)), shape);
}

function everyOf(conditions: readonly string[]): string {
  const real = conditions.filter((sql) => sql !== "true");
  return real.length === 0 ? "true" : `(${real.join(" and ")})`;
}

const someOf = (conditions: readonly string[]) =>
  conditions.includes("true") ? "true" : `(${conditions.join(" or ")})`;

/** Returns the negation of the part. The negation also matches rows for which the part's SQL is null. */
export function noneOf(part: QueryPart): QueryPart {
  if (isConstant(part, "true")) return NONE;
  if (isConstant(part, "false")) return ALL;
  const reading = part.reading === null ? null : { ...part.reading, beside: "true" };
  if (part.kind === "sql") return { ...sqlPart(`(${part.sql} is not true)`), reading };
  return { kind: "not", items: [part], sql: "true", shape: ANY_SHAPE, reading };
}

function joinedPart(
  kind: "and" | "or",
  items: readonly QueryPart[],
  sql: string,
  shape: QueryShape,
): QueryPart {
  const reading = joinedReading(kind, items);
  const isDecided = items.every((item) => item.kind === "sql");
  return isDecided ? { kind: "sql", sql, shape, reading } : { kind, items, sql, shape, reading };
}

function joinedReading(kind: "and" | "or", items: readonly QueryPart[]): LargeValues | null {
  const columns = new Set(items.flatMap(({ reading }) => reading?.columns ?? []));
  if (columns.size === 0) return null;
  const beside = items.map(({ sql, reading }) => reading?.beside ?? sql);
  return { columns: [...columns], beside: kind === "and" ? everyOf(beside) : someOf(beside) };
}

const isConstant = (part: QueryPart, sql: "true" | "false") =>
  part.kind === "sql" && part.sql === sql;
