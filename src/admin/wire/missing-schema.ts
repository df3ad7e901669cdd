// The schema of the tables that the queue's schema lacks.
import { type JsonSchema, orNull, record, withDescription } from "./json-schema.ts";

/** `what`: what the server refuses without them. */
export const missingSchema = (what: string): JsonSchema => ({
  ...orNull(
    record({
      extension: "string",
      may_add: withDescription("boolean", "true: POST /api/extensions of this admin can add it"),
      command: withDescription("string?", "the shell command for the owner of the schema"),
      sentence: "string",
    }),
  ),
  description: `the extension that the schema lacks; without it no ${what} (409 extension_missing)`,
});
