// Migrates a schema so that a worker can use it. All changes are made in one transaction under an advisory lock, so
// many processes may start at once.
import type { Pool, PoolClient } from "pg";
import * as v from "valibot";
import { monotonic, wait } from "../../base/clock.ts";
import { codeOf, InputError, messageOf, WorkerError } from "../../base/errors.ts";
import { isLogger, type Logger, loggerProblem, silentLogger } from "../../base/logger.ts";
import { backoffDelay } from "../../base/retry.ts";
import { safeLogger } from "../../base/safe-logger.ts";
import { durationOrNone, strict, validate } from "../../base/validate.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";
import { BEGIN } from "../connection/bounded-statement.ts";
import { boundedQueryable, withClient } from "../connection/pool.ts";
import { type Database, query } from "../database.ts";
import { explainDatabaseError } from "../errors/database-errors.ts";
import type { SchemaName } from "../schema-name.ts";
import { readStrayFunctions } from "../stray-functions.ts";
import {
  build,
  current,
  type MigrationOutcome,
  type MigrationPlan,
  workLeft,
} from "./build-schema.ts";
import type { Extension } from "./extensions/extension.ts";
import { extensions } from "./extensions/index.ts";
import { type ReadySchema, schemaState } from "./schema-state.ts";

/** Options of migrate(). */
export interface MigrationOptions {
  /**
   * When this signal aborts, migrate() stops waiting for other processes, and rejects with `aborted`. A migration that
   * has begun is completed. Default: none.
   */
  readonly signal?: AbortSignal;
  /** The logger. Default: silent. */
  readonly logger?: Logger;
  /**
   * How long migrate() waits for other migrations and for locks, in milliseconds. After this time, migrate() rejects
   * with `database_busy`, or with `schema_unsupported` if the schema is still at an unsupported old level. Default
   * 60,000.
   */
  readonly timeoutMs?: number;
  /** The names of extensions to add, besides those that every migration adds. Default: none. */
  readonly extensions?: readonly string[];
}

const optionsSchema = strict({
  signal: v.optional(v.instance(AbortSignal, "must be an AbortSignal")),
  logger: v.optional(v.custom<Logger>(isLogger, ({ input }) => loggerProblem(input))),
  timeoutMs: v.optional(durationOrNone),
  extensions: v.optional(v.array(v.string("must be a string"), "must be a list of names")),
});

/** The result of an attempt that must be repeated. `cause`: the error of the attempt; null if there was none. */
interface BusySchema {
  readonly kind: "busy";
  readonly cause: unknown;
}

const DEFAULT_TIMEOUT_MS = 60_000;
// Short, because each attempt occupies a connection of the pool.
const MAX_LOCK_WAIT_MS = 10_000;
// The time limit of a statement that reads the schema's state, in addition to the time limit for locks.
const MAX_READ_MS = 10_000;
// If the schema reached an old level less than CLIMBING_S seconds ago, a Graphile worker may still be migrating it.
const CLIMBING_S = 5;
// Errors after which another attempt may succeed: another process created the same object, a deadlock, a lock timeout.
const CLASHES = new Set(["23505", "42P06", "42P07", "42710", "42723", "40P01", "55P03"]);
const LOCK_TIMEOUT = "55P03";
const MAY_NOT = "42501";
const READ_ONLY = "25006";

/**
 * Creates the schema and its tables if they are missing. In a schema that has a queue already, adds and upgrades this
 * library's extensions, and rewrites the schema's functions that use another schema's tables. Changes nothing if the
 * schema is up to date. Safe with any number of callers at once. Rejects with WorkerError, or with InputError for
 * invalid options. After a rejection nothing has been changed, unless the connection was lost during the commit.
 */
export async function migrate(
  pool: Pool,
  schema: SchemaName,
  options: MigrationOptions = {},
): Promise<MigrationOutcome> {
  validate(optionsSchema, options);
  return migrateBy({ registry: extensions }, pool, schema, options);
}

/** Like migrate(), but with any plan, and with options that the caller has checked. */
export async function migrateBy(
  {
    registry,
    existing = "bring up to date",
  }: Pick<MigrationPlan, "registry"> & Partial<MigrationPlan>,
  pool: Pool,
  schema: SchemaName,
  options: MigrationOptions = {},
): Promise<MigrationOutcome> {
  const { signal = new AbortController().signal, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const logger = safeLogger(options.logger ?? silentLogger);
  const plan = { registry, existing, requested: checkedNames(options.extensions, registry) };
  const deadline = monotonic() + timeoutMs;
  for (let attempt = 0; ; attempt++) {
    if (signal.aborted)
      throw new WorkerError("aborted", "the migration was stopped before it began");
    const result = await attemptOn(pool, schema, plan, timeoutMs);
    if (result.kind !== "busy") {
      for (const warning of result.warnings) logger.warn({ schema: schema.name }, warning);
      const { kind, level, extensions } = result;
      logger.debug({ schema: schema.name, level, extensions }, `the schema is ${kind}`);
      return result;
    }
    if (monotonic() > deadline) throw tooBusy(schema, timeoutMs, result.cause);
    logger.debug(
      { schema: schema.name },
      "waiting: another process is migrating the schema, or has locked a part of it",
    );
    await wait(backoffDelay(attempt, { firstMs: 50, longestMs: 500 }), signal);
  }
}

function checkedNames(
  requested: readonly string[] = [],
  registry: readonly Extension[],
): readonly string[] {
  const names = registry.map(({ name }) => name);
  const unknown = requested.filter((name) => !names.includes(name));
  if (unknown.length === 0) return requested;
  const message = `unknown extension "${unknown[0]}"; expected one of ${names.map((name) => `"${name}"`).join(", ")}`;
  throw new InputError([{ path: "extensions", message }]);
}

async function attemptOn(
  pool: Pool,
  schema: SchemaName,
  plan: MigrationPlan,
  timeoutMs: number,
): Promise<MigrationOutcome | BusySchema> {
  const lockTimeoutMs = Math.min(MAX_LOCK_WAIT_MS, timeoutMs);
  const statementTimeoutMs = lockTimeoutMs + MAX_READ_MS;
  const bounds = { statementTimeoutMs, lockTimeoutMs, readOnly: true };
  const reads = { schema, client: boundedQueryable(pool, bounds) };
  const work = (seen: ReadySchema | null) =>
    withClient(pool, (client) => change({ client, schema }, plan, seen, lockTimeoutMs));
  try {
    return await migrateIfNeeded(reads, plan, work);
  } catch (error) {
    const explained = explainDatabaseError(error, schema.name);
    if (codeOf(explained.cause) === LOCK_TIMEOUT) return { kind: "busy", cause: explained.cause };
    throw explained;
  }
}

/**
 * Calls `work` only if something has to be changed. So if the schema is up to date, migrate() also works on a standby.
 * `seen`: the state of a schema in which only extensions are missing or outdated; null for any other schema.
 */
async function migrateIfNeeded(
  db: Database,
  plan: MigrationPlan,
  work: (seen: ReadySchema | null) => Promise<MigrationOutcome | BusySchema>,
): Promise<MigrationOutcome | BusySchema> {
  const state = await schemaState(db, plan.registry);
  switch (state.kind) {
    case "ready":
      if (plan.existing === "bring up to date" && (await readStrayFunctions(db)).length > 0)
        return work(null);
      if (workLeft(state, plan).length === 0) return current(state);
      return work(state);
    case "absent":
    case "empty":
      return work(null);
    case "outdated": {
      const refusal = new WorkerError("schema_unsupported", state.reason);
      if (state.age_s < CLIMBING_S) return { kind: "busy", cause: refusal };
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
  { client, schema }: Database & { readonly client: PoolClient },
  plan: MigrationPlan,
  seen: ReadySchema | null,
  lockTimeoutMs: number,
): Promise<MigrationOutcome | BusySchema> {
  try {
    // BEGIN sets the isolation level read committed, because what other processes commit during a wait for a lock must
    // be visible.
    await client.query(
      `${BEGIN}; set local lock_timeout = ${Math.max(1, Math.trunc(lockTimeoutMs))}; set local statement_timeout = '60s'`,
    );
    const outcome = (await tryLock(client, schema)) ? await build({ client, schema }, plan) : null;
    await client.query(outcome === null ? "rollback" : "commit");
    return outcome ?? { kind: "busy", cause: null };
  } catch (error) {
    const code = codeOf(error instanceof WorkerError ? error.cause : error) ?? "";
    if (CLASHES.has(code)) {
      await client.query("rollback");
      return { kind: "busy", cause: error };
    }
    // If `seen` is not null, the schema is usable as it is. A warning is then enough, unless extensions were requested.
    const isOptional = seen !== null && plan.requested.length === 0;
    if (isOptional && (code === MAY_NOT || code === READ_ONLY)) {
      await client.query("rollback");
      return current(seen, ...shortcomings(seen, plan, schema, error));
    }
    throw error;
  }
}

function shortcomings(
  seen: ReadySchema,
  plan: MigrationPlan,
  schema: SchemaName,
  error: unknown,
): string[] {
  const detail = messageOf(error instanceof WorkerError ? error.cause : error);
  return workLeft(seen, plan).map(({ name, provides }) => {
    const what = seen.extensions.has(name)
      ? `${provides} are outdated: they could not be upgraded in`
      : `${provides} are not available: they could not be added to`;
    return `${what} the schema "${schema.name}" (${detail}); run "${workerLine(schema.name, "worker migrate")}" as its owner`;
  });
}

function tooBusy(schema: SchemaName, timeoutMs: number, cause: unknown): WorkerError {
  if (cause instanceof WorkerError && cause.code === "schema_unsupported") return cause;
  const secs = `${timeoutMs / 1_000} s`;
  const isLocked = codeOf(cause instanceof WorkerError ? cause.cause : cause) === LOCK_TIMEOUT;
  const message = isLocked
    ? `another session has held a lock on tables of the schema "${schema.name}" for ${secs}; try again when it is released (pg_stat_activity shows the session)`
    : `another process has been migrating the schema "${schema.name}" for ${secs}; try again when that is finished`;
  return new WorkerError("database_busy", message, { cause });
}

// The statement does not wait for the advisory lock, because a wait inside the server could not be aborted. The lock
// belongs to the transaction, so it also works behind a pooler.
const tryLockSql = () =>
  "select pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended('worker:migrate:' || $1::text, 0)) as locked";

async function tryLock(client: PoolClient, schema: SchemaName): Promise<boolean> {
  const [row] = await query<{ locked: boolean }>({ client, schema }, tryLockSql, [schema.name]);
  return row?.locked === true;
}
