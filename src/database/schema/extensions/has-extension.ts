// Whether the schema has an extension, and this role may read it. Each call reads the catalogue, because a migration
// may add an extension at any time.
import { type Database, query, type Statement } from "../../database.ts";

/** Whether pauses and requests to cancel can be read. */
export const hasControls = (db: Database): Promise<boolean> => mayRead(db, "_private_pauses");

export const hasSchedules = (db: Database): Promise<boolean> => mayRead(db, "_private_schedules");

export const hasLimits = (db: Database): Promise<boolean> => mayRead(db, "_private_limits");

/** Whether heartbeats of workers can be read. Graphile Worker's schema has no table for them. */
export const hasWorkerTable = (db: Database): Promise<boolean> => mayRead(db, "_private_workers");

async function mayRead(db: Database, table: string): Promise<boolean> {
  const [row] = await query<{ is_there: boolean }>(db, mayReadSql, [
    `${db.schema.quoted}.${table}`,
  ]);
  return row?.is_there === true;
}

/** Whether this role may read the schema's limits; null: the schema has no table for them. */
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
