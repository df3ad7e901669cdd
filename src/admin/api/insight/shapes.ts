// What the answers about causes share on the wire: links, verbs.
import { type JsonSchema, record } from "../../wire/json-schema.ts";

export const linksSchema = record({ queue: "string?", worker: "string?", job: "integer?" });

export const fixSchema: JsonSchema = record(
  {
    action: "string",
    label: "string",
    // What to send, with the CSRF token, once a person has said yes.
    post: record({ path: "string", body: { type: "object" } }),
  },
  "Fix",
);
