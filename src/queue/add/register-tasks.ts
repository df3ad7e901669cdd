// Registers a worker's task identifiers, so that they are visible before their first job.
import { type Database, query } from "../../database/database.ts";
import { namesStatement } from "../sql/names.ts";

const registerSql = namesStatement("identifier");

export async function registerTasks(db: Database, identifiers: readonly string[]): Promise<void> {
  await query(db, registerSql, [identifiers]);
}
