// Brings a schema to where a worker can use it, safely with many starters at once: everything
// happens in one transaction under an advisory lock. Killed half-way it leaves nothing, and
// whoever comes second finds the work done. What is done: build-schema.ts.
import type { Pool, PoolClient } from "pg";
import { monotonic, wait } from "../base/clock.ts";
import { codeOf, messageOf, WorkerError } from "../base/errors.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import { backoffDelay } from "../base/retry.ts";
import { build, current, isComplete, type MigrationOutcome } from "./build-schema.ts";
import { query } from "./database.ts";
import { explainDatabaseError } from "./database-errors.ts";
import { withClient } from "./pool.ts";
import type { SchemaName } from "./schema-name.ts";
import { type ReadySchema, schemaState } from "./schema-state.ts";

export interface MigrationOptions {
  readonly signal?: AbortSignal;
  readonly logger?: Logger;
}

/** Somebody else is at work on the schema; `giveUp` is thrown when that never ends. */
interface Busy {
  readonly kind: "busy";
  readonly giveUp: WorkerError;
}

// How long we wait for somebody else's migration, all rounds together.
const PATIENCE_MS = 60_000;
// An old level that was reached a moment ago: a stock worker is climbing, one step a transaction.
const CLIMBING_S = 5;
// Two made the same object at once, or waited for each other; the next look shows who has won.
const CLASHES = new Set(["23505", "42P06", "42P07", "42710", "42723", "40P01", "55P03"]);
const MAY_NOT = "42501";
const READ_ONLY = "25006";

/** Builds, adopts, or finds all done. Throws WorkerError; then nothing has been changed. */
export async function migrate(
  pool: Pool,
  schema: SchemaName,
  options: MigrationOptions = {},
): Promise<MigrationOutcome> {
  const { signal = new AbortController().signal, logger = silentLogger } = options;
  const deadline = monotonic() + PATIENCE_MS;
  for (let attempt = 0; ; attempt++) {
    if (signal.aborted) throw new WorkerError("aborted", "the migration was stopped in time");
    const result = await attemptOn(pool, schema);
    if (result.kind !== "busy") {
      for (const warning of result.warnings) logger.warn({ schema: schema.name }, warning);
      const { kind, level, extensions } = result;
      logger.debug({ schema: schema.name, level, extensions }, `the schema is ${kind}`);
      return result;
    }
    if (monotonic() > deadline) throw result.giveUp;
    logger.debug({ schema: schema.name }, "waiting: another process works on the schema");
    await wait(backoffDelay(attempt, { first_ms: 50, longest_ms: 500 }), signal);
  }
}

async function attemptOn(pool: Pool, schema: SchemaName): Promise<MigrationOutcome | Busy> {
  try {
    return await withClient(pool, (client) => look(client, schema));
  } catch (error) {
    throw explainDatabaseError(error, schema.name);
  }
}

/** First without a lock and without writing: the usual case, and all that a standby allows. */
async function look(client: PoolClient, schema: SchemaName): Promise<MigrationOutcome | Busy> {
  const state = await schemaState({ client, schema });
  switch (state.kind) {
    case "ready":
      return isComplete(state) ? current(state) : change(client, schema, state);
    case "absent":
    case "empty":
      return change(client, schema, null);
    case "outdated": {
      const refusal = new WorkerError("schema_unsupported", state.reason);
      if (state.age_s < CLIMBING_S) return { kind: "busy", giveUp: refusal };
      throw refusal;
    }
    case "too-new":
    case "foreign":
      throw new WorkerError("schema_unsupported", state.reason);
    default:
      return state satisfies never;
  }
}

async function change(
  client: PoolClient,
  schema: SchemaName,
  seen: ReadySchema | null,
): Promise<MigrationOutcome | Busy> {
  try {
    // Read committed, whatever the database's default: what others committed while we waited for
    // the lock must be seen. Ten seconds, because the pool may be small and others wait for it.
    await client.query(
      "begin isolation level read committed; set local lock_timeout = '10s'; set local statement_timeout = '60s'",
    );
    const outcome = (await locked(client, schema)) ? await build({ client, schema }) : null;
    await client.query(outcome === null ? "rollback" : "commit");
    return outcome ?? busy(schema);
  } catch (error) {
    const code = codeOf(error instanceof WorkerError ? error.cause : error) ?? "";
    if (CLASHES.has(code)) {
      await client.query("rollback");
      return busy(schema, error);
    }
    if (seen !== null && (code === MAY_NOT || code === READ_ONLY)) {
      await client.query("rollback");
      return current(
        seen,
        `worker heartbeats are not available: they could not be added to the schema "${schema.name}" (${messageOf(error)}); run "worker migrate" as its owner`,
      );
    }
    throw error;
  }
}

function busy(schema: SchemaName, cause?: unknown): Busy {
  const message = `another process has been migrating the schema "${schema.name}" for ${PATIENCE_MS / 1000} s; try again when it is done`;
  return { kind: "busy", giveUp: new WorkerError("database_busy", message, { cause }) };
}

// Tried, not waited for: a wait inside the server could not be aborted. Transaction-level, so
// that it also holds behind a pooler and ends with us. Two schemas do not disturb each other.
const tryLock = () =>
  "select pg_try_advisory_xact_lock(hashtextextended('worker:migrate:' || $1::text, 0)) as locked";

async function locked(client: PoolClient, schema: SchemaName): Promise<boolean> {
  const [row] = await query<{ locked: boolean }>({ client, schema }, tryLock, [schema.name]);
  return row?.locked === true;
}
