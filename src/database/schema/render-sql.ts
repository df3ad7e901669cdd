// Inserts the schema's name into the texts of the SQL files. The files contain `:schema` in place of the name, and
// `$body$` around function bodies.
import type { SchemaName } from "../schema-name.ts";

/**
 * Returns the SQL text with `:schema` replaced by the schema's quoted name, and `$body$` by a dollar quote that the
 * name does not contain. `:schema` must not occur in a comment: a line break in the name would end the comment.
 */
export function render(sql: string, schema: SchemaName): string {
  let tag = "$body$";
  while (schema.quoted.includes(tag)) tag = tag.replace("y$", "yy$");
  return sql.replaceAll("$body$", () => tag).replaceAll(":schema", () => schema.quoted);
}
