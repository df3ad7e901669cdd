// Prepares the schema when a worker starts, and checks the schema while the worker runs. If the schema becomes too new,
// the worker stops. A missing or incomplete schema counts as an outage, because a restore may complete the schema.
import type { Pool } from "pg";
import type { Logger } from "../base/logger.ts";
import type { Outage } from "../base/outage.ts";
import type { Database } from "../database/database.ts";
import { ensureSchema } from "../database/schema/ensure-schema.ts";
import { migrate } from "../database/schema/migrate.ts";
import {
  assertUsable,
  assertUsableSchema,
  type ReadySchema,
  schemaState,
} from "../database/schema/schema-state.ts";
import type { SchemaName } from "../database/schema-name.ts";
import type { LimitDefinition } from "../domain/limits/limit.ts";
import type { MigrateOption } from "./options/worker-options.ts";

export interface StartedSchema {
  readonly schema: SchemaName;
  readonly migrate: MigrateOption;
  readonly limits: readonly LimitDefinition[];
  readonly logger: Logger;
}

/**
 * Creates, migrates or checks the schema, as the option `migrate` requires. Then creates the missing limits of the
 * option `limits`. `signal` ends the wait for another session's migration. Throws WorkerError `schema_missing`,
 * `schema_unsupported`, `extension_missing` or `conflict` (too many limits), and the errors of migrate().
 */
export async function schemaAtStart(
  pool: Pool,
  started: StartedSchema,
  signal: AbortSignal,
): Promise<ReadySchema> {
  const ready = await readyAtStart(pool, started, signal);
  const { schema, limits, logger } = started;
  if (limits.length > 0) {
    const { createWorkerLimits } = await import("../utils/limit-operations.ts");
    await createWorkerLimits({ client: pool, schema }, limits, logger);
  }
  return ready;
}

async function readyAtStart(
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
 * Whether a notification on the channel `worker:migrate` announces a breaking migration. `payload`: for example
 * `{"migrationNumber":21,"breaking":true}`.
 */
export function isBreaking(payload: string): boolean {
  return /"breaking"\s*:\s*true\b/.test(payload);
}

export interface SchemaCheckParts {
  readonly db: Database;
  readonly outage: Outage;
  /** Ends the check. */
  readonly signal: AbortSignal;
  /** Called if the schema is too new for the worker. */
  tooNew(reason: string): void;
}

/**
 * Returns a function that starts a check, which reads the schema until the schema is usable or too new. After a call
 * during a check, the running check reads the schema again, because the schema may have changed.
 */
export function schemaCheck({ db, outage, signal, tooNew }: SchemaCheckParts): () => void {
  let isRunning = false;
  let calls = 0;
  const check = async (succeeded: () => void): Promise<void> => {
    let seen: number;
    do {
      seen = calls;
      const state = await schemaState(db);
      if (state.kind === "too-new") return tooNew(state.reason);
      assertUsable(state, db.schema.name);
    } while (seen !== calls);
    isRunning = false;
    succeeded();
  };
  return () => {
    calls++;
    if (isRunning) return;
    isRunning = true;
    void outage.runWithRetries("schema", check, { signal });
  };
}
