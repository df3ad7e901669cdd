// Counts what waits for a lock in one database. The server is shared: another test file's wait must not be counted.
import type { Client, Pool, PoolClient } from "pg";

// A wait for a transaction's end names no database, but its connection has other locks that do. pg_stat_activity is
// not read, because its rows do not change while a transaction of the reader is open.
const WAITS = `select count(*)::int as waits from (select from pg_locks group by pid
  having not bool_and(granted)
    and bool_or(database = (select oid from pg_database where datname = current_database()))) waiting`;

/** The number of connections that wait for a lock, advisory ones included, in the database of `client`. */
export async function lockWaits(client: Pool | PoolClient | Client): Promise<number> {
  const { rows } = await client.query<{ waits: number }>(WAITS);
  return rows[0]?.waits ?? 0;
}
