// What the answers about causes share on the wire: values, links, verbs.
import { type JsonSchema, record } from "../../wire/json-schema.ts";

/** The same, or null. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

/** domain/value.ts. */
export const valueSchema: JsonSchema = {
  title: "Value",
  type: "object",
  properties: {
    value: { type: "integer" },
    precision: { type: "string", enum: ["exact", "capped", "estimated"] },
    low: { type: "integer" },
    high: { type: ["integer", "null"] },
    basis: {
      type: "string",
      enum: ["probe", "scan", "sample", "census", "heartbeat", "catalog"],
    },
    as_of: { type: "string", format: "date-time" },
  },
  required: ["value", "precision", "basis", "as_of"],
};

export const linksSchema = record({ queue: "string?", worker: "string?", job: "integer?" });

export const verbSchema: JsonSchema = record(
  {
    action: "string",
    label: "string",
    // What to send, with the CSRF token, once a person has said yes.
    post: record({ path: "string", body: { type: "object" } }),
  },
  "Verb",
);
