// What a program's start does for its schema: it makes one where there is none, so that a first run
// needs no other step, and never changes one that is there. That is for "worker migrate" alone.
import type { Pool } from "pg";
import type { SchemaName } from "../schema-name.ts";
import { extensions } from "./extensions/index.ts";
import { type MigrationOptions, migrateBy } from "./migrate.ts";
import { assertUsableSchema, type ReadySchema, schemaState } from "./schema-state.ts";

/**
 * The state of a schema that can be worked on; where there is none, or an empty one, it is made first.
 * Safe with many starters at once. Throws WorkerError: what migrate() and assertUsableSchema() throw.
 */
export async function ensureSchema(
  pool: Pool,
  schema: SchemaName,
  options: Pick<MigrationOptions, "signal" | "logger"> = {},
): Promise<ReadySchema> {
  const db = { client: pool, schema };
  const { kind } = await schemaState(db);
  if (kind !== "ready") {
    // Somebody else's may be there by the time that we have the lock: then it is left as it is.
    await migrateBy({ registry: extensions, existing: "leave" }, pool, schema, options);
  }
  return assertUsableSchema(db);
}
