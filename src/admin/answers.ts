// The JSON Schemas of what the API answers with, in a shorthand: `string`, `integer`, `time`, `json`,
// …, with `?` when it may be null.
import type { JsonSchema } from "./wire.ts";

const types: Readonly<Record<string, JsonSchema>> = {
  string: { type: "string" },
  boolean: { type: "boolean" },
  integer: { type: "integer", format: "int64" },
  time: { type: "string", format: "date-time" },
  json: { description: "any JSON, byte for byte" },
};

export type Shape = string | JsonSchema;

/** An object whose members are all there. */
export function record(members: Readonly<Record<string, Shape>>): JsonSchema {
  const entries = Object.entries(members);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, shape]) => [name, schemaOf(shape)])),
    required: entries.map(([name]) => name),
  };
}

export function listOf(items: Shape): JsonSchema {
  return { type: "array", items: schemaOf(items) };
}

function schemaOf(shape: Shape): JsonSchema {
  if (typeof shape !== "string") return shape;
  const schema = types[shape.replace("?", "")];
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

export const listedJob = record({
  ...databaseJob,
  queue_name: "string?",
  is_available: "boolean",
  state: "string",
});

const actedJob = record({ ...databaseJob, task_id: "integer", job_queue_id: "integer?" });

export const jobActionResult = record({ message: "string", jobs: listOf(actedJob) });
