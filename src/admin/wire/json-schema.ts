// The JSON Schemas of the API's requests and answers. In the short form, `?` allows null and `[]` makes a list.

import type { FieldData } from "../../commands/declare/field.ts";
import { conditions } from "../../domain/condition.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;
export type Shape = string | JsonSchema;

const types: Readonly<Record<string, JsonSchema>> = {
  string: { type: "string" },
  boolean: { type: "boolean" },
  integer: { type: "integer", format: "int64" },
  number: { type: "number" },
  time: { type: "string", format: "date-time" },
  json: { description: "any JSON, exactly as PostgreSQL returns it" },
};

/** Returns the schema of an object whose members are all required. */
export function record(members: Readonly<Record<string, Shape>>, title?: string): JsonSchema {
  const entries = Object.entries(members);
  return {
    ...(title === undefined ? {} : { title }),
    type: "object",
    properties: Object.fromEntries(entries.map(([name, shape]) => [name, schemaOf(shape)])),
    required: entries.map(([name]) => name),
  };
}

/** Returns the schema with further members that are optional. */
export function withOptional(
  schema: JsonSchema,
  members: Readonly<Record<string, Shape>>,
): JsonSchema {
  const { properties } = record(members);
  return { ...schema, properties: { ...Object(schema["properties"]), ...Object(properties) } };
}

export function listOf(items: Shape): JsonSchema {
  return { type: "array", items: schemaOf(items) };
}

/** Returns the schema with a description. */
export function withDescription(shape: Shape, description: string): JsonSchema {
  return { ...schemaOf(shape), description };
}

/** Returns the schema of a value that matches `schema` or is null. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

/** A number with its precision (domain/value.ts). */
export const value: JsonSchema = {
  ...record({ value: "integer", precision: "string", basis: "string", as_of: "time" }, "Value"),
  description:
    "a number with its precision: exact, at least this number (capped), or probably between low and high (estimated)",
  properties: {
    value: { type: "integer", format: "int64" },
    precision: { type: "string", enum: ["exact", "capped", "estimated"] },
    low: { type: "integer", format: "int64", description: "absent when the value is exact" },
    high: {
      type: ["integer", "null"],
      format: "int64",
      description:
        "absent when the value is exact; null when it is capped: there is no upper bound",
    },
    basis: { type: "string", enum: ["probe", "scan", "sample", "census", "heartbeat", "catalog"] },
    as_of: { type: "string", format: "date-time" },
  },
};

/** The number of jobs in each condition, such as `ready`. */
export const byCondition: Readonly<Record<string, Shape>> = Object.fromEntries(
  conditions.map((one) => [one, value]),
);

function schemaOf(shape: Shape): JsonSchema {
  if (typeof shape !== "string") return shape;
  if (shape.endsWith("[]")) return listOf(shape.slice(0, -2));
  const schema = types[shape.replace("?", "")] ?? records[shape];
  if (schema === undefined) throw new Error(`no such type: ${shape}`);
  return shape.endsWith("?") && "type" in schema
    ? { ...schema, type: [schema["type"], "null"] }
    : schema;
}

const databaseJob = {
  id: "integer",
  task_identifier: "string?",
  payload: "json",
  priority: "integer",
  run_at: "time",
  attempts: "integer",
  max_attempts: "integer",
  last_error: "string?",
  created_at: "time",
  updated_at: "time",
  key: "string?",
  revision: "integer",
  locked_at: "time?",
  locked_by: "string?",
  flags: "json",
};

export const listedJob = withOptional(
  record(
    { ...databaseJob, queue_name: "string?", is_available: "boolean", state: "string" },
    "ListedJob",
  ),
  {
    payload_truncated: withDescription(
      "boolean",
      "true: the payload is null here, and /api/jobs/{id}/payload has all of it; a list leaves out only payloads of jobs that are larger than 8 MB",
    ),
    payload_bytes: withDescription(
      "integer",
      "present if payload_truncated is: the stored size of the payload",
    ),
    payload_packed: withDescription(
      "boolean",
      "with fields=head: whether the payload is stored compressed",
    ),
    payload_start: withDescription(
      "string",
      "with fields=head and start: the first characters of the payload",
    ),
    last_error_truncated: withDescription(
      "boolean",
      "true: last_error is only the beginning of the error",
    ),
  },
);

/** Records that the short form refers to by name, as in `ChangedJob[]`. */
const records: Readonly<Record<string, JsonSchema>> = {
  ChangedJob: record(
    { ...databaseJob, task_id: "integer", job_queue_id: "integer?" },
    "ChangedJob",
  ),
  CancelledJob: record(
    {
      id: "integer",
      outcome: { type: "string", enum: ["cancelled", "cancelling", "failed", "not_found"] },
    },
    "CancelledJob",
  ),
};

/** Returns the schema of one field of a body or a query. */
export function schemaOfField(field: FieldData): JsonSchema {
  const schema: JsonSchema = { description: field.about, ...typeOf(field), ...defaultOf(field) };
  if (!field.isNullable || !("type" in schema)) return schema;
  const choices = field.choices === undefined ? {} : { enum: [...field.choices, null] };
  return { ...schema, ...choices, type: [schema["type"], "null"] };
}

function defaultOf({ kind, default: text }: FieldData): JsonSchema {
  if (text === undefined || kind === "list" || kind === "ids") return {};
  const isText = kind === "text" || kind === "choice" || kind === "time";
  return { default: isText ? text : JSON.parse(text) };
}

const exampleOf = ({ example }: FieldData): JsonSchema =>
  example === undefined ? {} : { examples: [example] };

function typeOf(field: FieldData): JsonSchema {
  const { kind, min, max, choices } = field;
  const limits = (least: string, most: string) => ({
    ...(min === undefined ? {} : { [least]: min }),
    ...(max === undefined ? {} : { [most]: max }),
  });
  switch (kind) {
    case "text":
      return { type: "string", ...limits("minLength", "maxLength"), ...exampleOf(field) };
    case "integer":
      return { type: "integer", ...limits("minimum", "maximum") };
    case "seconds":
      return { type: "number", ...limits("minimum", "maximum") };
    case "boolean":
      return { type: "boolean" };
    case "time":
      return { type: "string", anyOf: [{ format: "date-time" }, { const: "now" }] };
    case "choice":
      return { type: "string", enum: choices };
    case "json":
      return {};
    case "ids": {
      const items = { type: "integer", format: "int64", minimum: 1 };
      return { type: "array", items, ...limits("minItems", "maxItems") };
    }
    case "list": {
      const items = field.item === undefined ? {} : schemaOfField(field.item);
      return { type: "array", items, ...limits("minItems", "maxItems") };
    }
    default:
      return kind satisfies never;
  }
}
