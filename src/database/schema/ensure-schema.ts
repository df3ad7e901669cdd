// Prepares the schema when a program starts. It creates a missing schema, so that a first run needs no other step, and
// never changes an existing one: only "worker migrate" does that.
import type { Pool } from "pg";
import type { SchemaName } from "../schema-name.ts";
import { extensions } from "./extensions/index.ts";
import { type MigrationOptions, migrateBy } from "./migrate.ts";
import { assertUsableSchema, type ReadySchema, schemaState } from "./schema-state.ts";

/**
 * Returns the state of a usable schema; a missing or empty one is created first. Safe with many concurrent
 * starts. Throws WorkerError, as migrate() and assertUsableSchema() do.
 */
export async function ensureSchema(
  pool: Pool,
  schema: SchemaName,
  options: Pick<MigrationOptions, "signal" | "logger"> = {},
): Promise<ReadySchema> {
  const db = { client: pool, schema };
  const { kind } = await schemaState(db);
  if (kind !== "ready") {
    // Another program may have created its schema before the lock was acquired; then it is not changed.
    await migrateBy({ registry: extensions, existing: "leave" }, pool, schema, options);
  }
  return assertUsableSchema(db);
}
