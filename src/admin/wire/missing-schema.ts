// The JSON Schema of `missing`, a member of answers: the extension whose tables the queue's schema lacks, or null.
import { type JsonSchema, orNull, record, withDescription } from "./json-schema.ts";

/** `what`: the words that follow `without it no` in the description, such as `limit is possible`. */
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
