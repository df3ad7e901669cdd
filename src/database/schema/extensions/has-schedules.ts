// Whether the schema has the extension for schedules, and this role may read it.
import { type Database, query, type Statement } from "../../database.ts";

/** Queried each time, because a migration may add it meanwhile. */
export async function hasSchedules(db: Database): Promise<boolean> {
  const table = `${db.schema.quoted}._private_schedules`;
  const [row] = await query<{ is_there: boolean }>(db, hasSql, [table]);
  return row?.is_there === true;
}

const hasSql: Statement = () =>
  "select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there";
