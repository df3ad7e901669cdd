// What each field takes.
import { nearest } from "../../base/validate.ts";
import { type FieldName, fieldNames, type Operator } from "./query-tree.ts";

/**
 * `integer`; `moment`: an age or a time; `word`: one of a list; `name`: a text, with `*` its beginning;
 * `text`: a text whole or in part; `json`: anything that stands in a payload.
 */
export type QueryFieldKind = "integer" | "moment" | "word" | "name" | "text" | "json";

const kinds: Readonly<Record<FieldName, QueryFieldKind>> = {
  id: "integer",
  is: "word",
  task: "name",
  queue: "name",
  key: "name",
  worker: "name",
  priority: "integer",
  tries: "integer",
  left: "integer",
  due: "moment",
  created: "moment",
  updated: "moment",
  failed: "moment",
  running: "moment",
  flag: "text",
  error: "text",
  group: "text",
  payload: "json",
};

export const kindOf = (field: FieldName): QueryFieldKind => kinds[field];

export const isFieldName = (name: string): name is FieldName =>
  (fieldNames as readonly string[]).includes(name);

/** What the columns and the API call it. */
const otherNames: Readonly<Record<string, FieldName>> = {
  state: "is",
  status: "is",
  identifier: "task",
  attempts: "tries",
  run_at: "due",
  locked_at: "running",
  locked_by: "worker",
  last_error: "error",
};

/** The field that was probably meant; null where there is nothing like it. */
export function meantField(name: string): FieldName | null {
  const other = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined;
  const near = other ?? nearest(name, fieldNames);
  if (near !== null) return near as FieldName;
  const begins = (field: FieldName) =>
    field.startsWith(name) || (field.length > 2 && name.startsWith(field));
  return name.length < 3 ? null : (fieldNames.find(begins) ?? null);
}

/** Whether the field may have nothing, as in `queue:none`. */
export const hasNone = (field: FieldName, hasPath: boolean): boolean =>
  ["queue", "key", "worker", "flag", "error"].includes(field) || (field === "payload" && hasPath);

/** `<` and its like: where there is an order. */
export const hasOrder = (field: FieldName, hasPath: boolean): boolean =>
  kinds[field] === "integer" || kinds[field] === "moment" || (field === "payload" && hasPath);

export const isOrder = (op: Operator): boolean => op.startsWith("<") || op.startsWith(">");
