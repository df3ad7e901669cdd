// Tests whether the schema has the newest version of the extension `operations` (operations and the audit trail), and
// whether the database role may insert into the extension's tables except _private_rehearsals. Earlier versions of the
// extension lack columns that the statements on these tables use.
import { type Database, query, type Statement } from "../../database.ts";

/** A table of the extension, and a column that this table does not have in earlier versions. */
export const NEWEST_OF_OPERATIONS = ["_private_operations", "open_since"] as const;

/**
 * Returns whether the extension can be used. Each call reads the catalogue, because a migration may add or upgrade the
 * extension at any time.
 */
export async function hasOperations(db: Database): Promise<boolean> {
  const tables = ["_private_operations", "_private_operation_rows", "_private_audit"];
  const [table, column] = NEWEST_OF_OPERATIONS;
  const [row] = await query<{ is_there: boolean }>(db, hasSql, [
    tables.map((name) => `${db.schema.quoted}.${name}`),
    ...[`${db.schema.quoted}.${table}`, column],
  ]);
  return row?.is_there === true;
}

/**
 * Returns the SQL condition that a table has a column. `table` and `column`: the placeholders of the parameters that
 * contain the names, such as `$2`.
 */
export const hasColumn = (table: string, column: string): string =>
  `exists (select from pg_catalog.pg_attribute where attrelid = pg_catalog.to_regclass(${table}::text)::oid
      and attname = ${column}::text::name and not attisdropped)`;

const hasSql: Statement = () => `
  select ${hasColumn("$2", "$3")}
    and pg_catalog.bool_and(coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass(name), 'insert'), false)) as is_there
  from pg_catalog.unnest($1::text[]) as named (name)`;
