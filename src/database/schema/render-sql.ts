// SQL files write the schema as `:schema`, and quote function bodies with `$body$`.
import type { SchemaName } from "../schema-name.ts";

/**
 * Inserts the schema into SQL text. `:schema` must not occur in a comment, because a name may contain a
 * line break; and `$body$` becomes a dollar quote that the name does not contain.
 */
export function render(sql: string, schema: SchemaName): string {
  let tag = "$body$";
  while (schema.quoted.includes(tag)) tag = tag.replace("y$", "yy$");
  return sql.replaceAll("$body$", () => tag).replaceAll(":schema", () => schema.quoted);
}
