// The parts that answers about causes and about incidents share: links and fixes.
import { type JsonSchema, record } from "../../wire/json-schema.ts";

export const linksSchema = record({ queue: "string?", worker: "string?", job: "integer?" });

export const fixSchema: JsonSchema = record(
  {
    action: "string",
    label: "string",
    // The request to send, with the CSRF token, once the user has confirmed the fix. /api/operations only previews it.
    post: record({ path: "string", body: { type: "object" } }),
  },
  "Fix",
);
