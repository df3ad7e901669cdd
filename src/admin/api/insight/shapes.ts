// The parts of answers about causes: links and fixes.
import { type JsonSchema, record } from "../../wire/json-schema.ts";

export const linksSchema = record({ queue: "string?", worker: "string?", job: "integer?" });

export const fixSchema: JsonSchema = record(
  {
    action: "string",
    label: "string",
    // The request to send, with the CSRF token, after the user has confirmed it.
    post: record({ path: "string", body: { type: "object" } }),
  },
  "Fix",
);
