// Finds the name of a named queue by its id.
import { type Database, query } from "../../database/database.ts";

const sql = (schema: string) =>
  `select queue_name from ${schema}._private_job_queues where id = $1::int`;

/** Returns the name; null if the queue does not exist. */
export async function queueNameOf(db: Database, id: number): Promise<string | null> {
  const [row] = await query<{ queue_name: string }>(db, sql, [id]);
  return row?.queue_name ?? null;
}
