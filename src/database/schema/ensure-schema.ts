// Prepares the schema when a worker starts with the option `migrate: "if-missing"`, which is the default. A missing or
// empty schema gets the queue's tables, so that a first run needs no other step. A schema that has a queue is not
// changed.
import type { Pool } from "pg";
import type { SchemaName } from "../schema-name.ts";
import { extensions } from "./extensions/index.ts";
import { type MigrationOptions, migrateBy } from "./migrate.ts";
import { assertUsableSchema, type ReadySchema, schemaState } from "./schema-state.ts";

/**
 * Returns the state of the schema. First creates the schema if it is missing, and the queue's tables if it is empty.
 * Many processes may call this function at the same time. Throws WorkerError, as migrate() and assertUsableSchema() do.
 */
export async function ensureSchema(
  pool: Pool,
  schema: SchemaName,
  options: Pick<MigrationOptions, "signal" | "logger"> = {},
): Promise<ReadySchema> {
  const db = { client: pool, schema };
  const { kind } = await schemaState(db);
  if (kind !== "ready") {
    // Another process may create the schema before this process gets the lock for migrations. Because of `leave`, a
    // schema that another process has created is not changed.
    await migrateBy({ registry: extensions, existing: "leave" }, pool, schema, options);
  }
  return assertUsableSchema(db);
}
