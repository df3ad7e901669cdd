// Several statements as one: all of them happen, or none.
import type { Pool } from "pg";
import type { Database } from "./database.ts";
import { explainDatabaseError } from "./database-errors.ts";

/**
 * Runs `work` in a transaction on one connection of the pool in `db`. A client in `db` is used as
 * it is: whether it is in a transaction is its owner's affair.
 */
export async function inTransaction<T>(
  db: Database,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  if (!isPool(db.client)) return work(db);
  const client = await db.client.connect().catch((error: unknown) => {
    throw explainDatabaseError(error, db.schema.name);
  });
  let broken: Error | undefined;
  try {
    await client.query("begin");
    const result = await work({ ...db, client });
    await client.query("commit");
    return result;
  } catch (error) {
    // A failed rollback means that the connection itself is gone: do not give it back for reuse.
    await client.query("rollback").catch((lost: Error) => {
      broken = lost;
    });
    throw explainDatabaseError(error, db.schema.name);
  } finally {
    client.release(broken);
  }
}

function isPool(client: object): client is Pool {
  return "connect" in client && "totalCount" in client;
}
