// Prepares the schema when a worker with the default `migrate: "if-missing"` starts. A missing or empty schema gets the
// queue's tables, so that a first run needs no other step. A schema that has a queue is not changed.
import type { Pool } from "pg";
import type { SchemaName } from "../schema-name.ts";
import { extensions } from "./extensions/index.ts";
import { type MigrationOptions, migrateBy } from "./migrate.ts";
import { assertUsableSchema, type ReadySchema, schemaState } from "./schema-state.ts";

/**
 * Returns the state of the schema. If there is no queue yet, because the schema is missing or empty, creates it first.
 * Many processes may call this at the same time. Throws WorkerError, as migrate() and assertUsableSchema() do.
 */
export async function ensureSchema(
  pool: Pool,
  schema: SchemaName,
  options: Pick<MigrationOptions, "signal" | "logger"> = {},
): Promise<ReadySchema> {
  const db = { client: pool, schema };
  const { kind } = await schemaState(db);
  if (kind !== "ready") {
    // Another process may create the schema before this process has the lock of migrations. `leave`: such a schema is
    // not changed.
    await migrateBy({ registry: extensions, existing: "leave" }, pool, schema, options);
  }
  return assertUsableSchema(db);
}
