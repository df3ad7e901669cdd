// Counts all named queues, also those beyond the maximum length of a list.
import { type Database, query } from "../../database/database.ts";

const sql = (schema: string) =>
  `select pg_catalog.count(*)::int as count from ${schema}._private_job_queues`;

export async function countQueues(db: Database): Promise<number> {
  const [row] = await query<{ count: number }>(db, sql);
  return row?.count ?? 0;
}
