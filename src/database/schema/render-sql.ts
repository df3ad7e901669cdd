// Fills in the SQL files, which write the schema as `:schema` and quote function bodies with `$body$`.
import type { SchemaName } from "../schema-name.ts";

/**
 * Inserts the schema into SQL text, and replaces `$body$` by a dollar quote that the schema's name does not contain.
 * `:schema` must not occur in a comment, because a name may contain a line break.
 */
export function render(sql: string, schema: SchemaName): string {
  let tag = "$body$";
  while (schema.quoted.includes(tag)) tag = tag.replace("y$", "yy$");
  return sql.replaceAll("$body$", () => tag).replaceAll(":schema", () => schema.quoted);
}
