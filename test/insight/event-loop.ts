// Counts the turns of the event loop, during a read, in which no SQL statement of the read runs. In these turns the
// read computes. A computation that is not split into slices takes one turn.
import type { Database, Queryable } from "../../src/database/database.ts";

/** Returns the number of these turns during the read `work`, which must use the `db` that is passed to it. */
export async function turnsOf(
  db: Database,
  work: (db: Database) => Promise<unknown>,
): Promise<number> {
  let running = 0;
  let isDone = false;
  let turns = 0;
  const client: Queryable = {
    query: async (config) => {
      running++;
      try {
        return await db.client.query(config);
      } finally {
        running--;
      }
    },
  };
  const count = () => {
    if (isDone) return;
    if (running === 0) turns++;
    setImmediate(count);
  };
  setImmediate(count);
  await work({ ...db, client });
  isDone = true;
  return turns;
}
