// What a worker does about the schema. At the start it makes one where there is none, and leaves one
// that is there as it is, unless an option says otherwise; after a migration it goes on only where the
// schema is still one that it knows. One that is gone is an outage: a restore may bring it back.
import type { Pool } from "pg";
import { codeOf, messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Outage } from "../base/outage.ts";
import type { Database } from "../database/database.ts";
import { ensureSchema } from "../database/schema/ensure-schema.ts";
import { migrate } from "../database/schema/migrate.ts";
import { assertUsableSchema, type ReadySchema } from "../database/schema/schema-state.ts";
import type { SchemaName } from "../database/schema-name.ts";
import type { MigrateOption } from "./options/worker-options.ts";

export interface StartedSchema {
  readonly schema: SchemaName;
  readonly migrate: MigrateOption;
  readonly logger: Logger;
}

/**
 * The schema that jobs are taken from. `signal` ends the wait for somebody else's migration. Throws
 * WorkerError `schema_missing` or `schema_unsupported`, and what migrate() throws.
 */
export async function schemaAtStart(
  pool: Pool,
  { schema, migrate: when, logger }: StartedSchema,
  signal: AbortSignal,
): Promise<ReadySchema> {
  switch (when) {
    case "if-missing":
      return ensureSchema(pool, schema, { logger, signal });
    case "always":
      await migrate(pool, schema, { logger, signal });
      return assertUsableSchema({ client: pool, schema });
    case "never":
      return assertUsableSchema({ client: pool, schema });
    default:
      return when satisfies never;
  }
}

/**
 * Why a worker cannot go on with its schema, as soon as the database says so; null: it can, or `signal`
 * has aborted before.
 */
export async function reasonToStop(
  db: Database,
  outage: Outage,
  signal: AbortSignal,
): Promise<string | null> {
  let reason: string | null = null;
  const look = async (succeeded: () => void): Promise<void> => {
    try {
      await assertUsableSchema(db);
    } catch (error) {
      if (codeOf(error) !== "schema_unsupported") throw error;
      reason = messageOf(error);
    }
    succeeded();
  };
  await outage.retrying("schema", look, { signal });
  return reason;
}
