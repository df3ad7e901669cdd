// Inserts the schema's name into the SQL files, which have `:schema` in its place and `$body$` around function bodies.
import type { SchemaName } from "../schema-name.ts";

/**
 * Returns the SQL text with the schema's name, and with a dollar quote that the name does not contain in place of
 * `$body$`. `:schema` must not occur in a comment, because a name may contain a line break.
 */
export function render(sql: string, schema: SchemaName): string {
  let tag = "$body$";
  while (schema.quoted.includes(tag)) tag = tag.replace("y$", "yy$");
  return sql.replaceAll("$body$", () => tag).replaceAll(":schema", () => schema.quoted);
}
