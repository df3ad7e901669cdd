// Checks whether the schema has a table of an extension, and whether this role may read that table. Each call reads the
// catalogue, because a migration may add an extension at any time.
import { type Database, query, type Statement } from "../../database.ts";

/** Whether pauses can be read. The extension's other table, which has the requests to cancel jobs, is not checked. */
export const hasControls = (db: Database): Promise<boolean> => mayRead(db, "_private_pauses");

export const hasSchedules = (db: Database): Promise<boolean> => mayRead(db, "_private_schedules");

export const hasLimits = (db: Database): Promise<boolean> => mayRead(db, "_private_limits");

/** Whether heartbeats can be read. A schema that only Graphile Worker has migrated has no table for them. */
export const hasWorkerTable = (db: Database): Promise<boolean> => mayRead(db, "_private_workers");

async function mayRead(db: Database, table: string): Promise<boolean> {
  const [row] = await query<{ is_there: boolean }>(db, mayReadSql, [
    `${db.schema.quoted}.${table}`,
  ]);
  return row?.is_there === true;
}

/** Whether this role may read the limits of the schema; null: the schema has no table of limits. */
export async function mayReadLimits(db: Database): Promise<boolean | null> {
  const [row] = await query<{ may_read: boolean | null }>(db, mayReadLimitsSql, [
    `${db.schema.quoted}._private_limits`,
  ]);
  return row?.may_read ?? null;
}

const mayReadLimitsSql: Statement = () =>
  "select pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select') as may_read";

const mayReadSql: Statement = () =>
  "select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there";
