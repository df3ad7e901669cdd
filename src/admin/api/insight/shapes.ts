// The JSON schemas of links and fixes, which are parts of answers about causes and of answers about incidents.
import { type JsonSchema, record } from "../../wire/json-schema.ts";

export const linksSchema = record({ queue: "string?", worker: "string?", job: "integer?" });

export const fixSchema: JsonSchema = record(
  {
    action: "string",
    label: "string",
    // The request to send, with the CSRF token, once the user has confirmed the fix. If the path is /api/operations,
    // the request only creates a preview of the operation.
    post: record({ path: "string", body: { type: "object" } }),
  },
  "Fix",
);
