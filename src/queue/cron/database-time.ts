// Reads the database's clock, which decides when jobs are due.
import { type Database, query } from "../../database/database.ts";
import { milliseconds } from "../sql/moments.ts";

// clock_timestamp(), because now() does not advance inside a transaction.
const sql = () => `select ${milliseconds("pg_catalog.clock_timestamp()")} as now_ms`;

/** Returns milliseconds since the epoch. */
export async function databaseTime(db: Database): Promise<number> {
  const rows = await query<{ now_ms: string }>(db, sql);
  return Number(rows[0]?.now_ms);
}
