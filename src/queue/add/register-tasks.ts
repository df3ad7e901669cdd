// Makes a worker's task identifiers known, so that they are visible before their first job, and
// gives their ids.
import { type Database, query } from "../../database/database.ts";
import { namesStatement } from "../sql/new-names.ts";

const registerSql = namesStatement("identifier");

/** Task id → identifier. */
export async function registerTasks(
  db: Database,
  identifiers: readonly string[],
): Promise<Map<number, string>> {
  const rows = await query<{ id: number; name: string }>(db, registerSql, [identifiers]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
