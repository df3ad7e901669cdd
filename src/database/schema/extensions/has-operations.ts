// Whether the schema has version 2 or later of the extension for operations and the audit trail, and this role may
// insert into its tables. Version 1 lacks columns until a migration.
import { type Database, query, type Statement } from "../../database.ts";

/** Reads the catalogue each time, because a migration may add the extension at any time. */
export async function hasOperations(db: Database): Promise<boolean> {
  const tables = ["_private_operations", "_private_operation_rows", "_private_audit"];
  const [row] = await query<{ is_there: boolean }>(db, hasSql, [
    tables.map((table) => `${db.schema.quoted}.${table}`),
    `${db.schema.quoted}._private_operation_rows_undo_idx`,
  ]);
  return row?.is_there === true;
}

const hasSql: Statement = () => `
  select pg_catalog.to_regclass($2::text) is not null
    and pg_catalog.bool_and(coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass(name), 'insert'), false)) as is_there
  from pg_catalog.unnest($1::text[]) as named (name)`;
