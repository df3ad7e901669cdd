// Counts the connections that wait for a lock in one database. Other test files use other databases of the same server.
import type { Client, Pool, PoolClient } from "pg";

// If a connection waits for the end of a transaction, the row of this wait in pg_locks has no database. The database is
// found in the rows of the connection's other locks. pg_stat_activity is not read, because within a transaction its
// rows do not change after the first read.
const WAITS = `select count(*)::int as waits from (select from pg_locks group by pid
  having not bool_and(granted)
    and bool_or(database = (select oid from pg_database where datname = current_database()))) waiting`;

/** Returns how many connections to the database of `client` wait for a lock, including advisory locks. */
export async function lockWaits(client: Pool | PoolClient | Client): Promise<number> {
  const { rows } = await client.query<{ waits: number }>(WAITS);
  return rows[0]?.waits ?? 0;
}
