// Adds the missing rows of a worker's tasks, so that lists show the tasks before their first job.
import { type Database, query } from "../../database/database.ts";
import { namesStatement } from "../sql/names.ts";

const registerSql = namesStatement("identifier");

export async function registerTasks(db: Database, identifiers: readonly string[]): Promise<void> {
  await query(db, registerSql, [identifiers]);
}
