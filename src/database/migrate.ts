// Brings a schema to where a worker can use it: builds it, or adopts what Graphile Worker or its
// Rust port have built. All in one transaction under an advisory lock: killed half-way it leaves
// nothing, and whoever comes second finds the work done.
import type { Pool, PoolClient } from "pg";
import { monotonic, wait } from "../base/clock.ts";
import { codeOf, messageOf, WorkerError } from "../base/errors.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import { backoffDelay } from "../base/retry.ts";
import type { Database } from "./database.ts";
import { explainDatabaseError } from "./database-errors.ts";
import baseline from "./migrations/baseline.sql";
import extensionWorkers from "./migrations/extension-workers.sql";
import type { SchemaName } from "./schema-name.ts";
import {
  type Extension,
  KNOWN_LEVEL,
  type ReadySchema,
  schemaState,
  workersObjects,
} from "./schema-state.ts";

export interface MigrationOptions {
  readonly signal?: AbortSignal;
  readonly logger?: Logger;
}

export interface MigrationOutcome {
  /** `adopted`: somebody else's installation got our additions; `current`: it had them. */
  readonly kind: "created" | "adopted" | "current";
  readonly level: number;
  /** Extensions that were added now. */
  readonly extensions: readonly Extension[];
  /** For the operator: what could not be done, or will need attention. */
  readonly warnings: readonly string[];
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
const EXTENSION_VERSION = 1;
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
  let client: PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    throw explainDatabaseError(error, schema.name);
  }
  let broken: Error | undefined;
  try {
    return await look(client, schema);
  } catch (error) {
    // A failed rollback means that the connection itself is gone: do not give it back for reuse.
    await client.query("rollback").catch((lost: Error) => {
      broken = lost;
    });
    throw explainDatabaseError(error, schema.name);
  } finally {
    client.release(broken);
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

function isComplete(state: ReadySchema): boolean {
  return state.origin === "ours" && workersObjects.every((name) => state.objects.has(name));
}

function current(state: ReadySchema, ...warnings: string[]): MigrationOutcome {
  if (state.warning !== null) warnings.unshift(state.warning);
  return { kind: "current", level: state.level, extensions: [], warnings };
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
async function locked(client: PoolClient, schema: SchemaName): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    "select pg_try_advisory_xact_lock(hashtextextended('worker:migrate:' || $1::text, 0)) as locked",
    [schema.name],
  );
  return rows[0]?.locked === true;
}

/** Under the lock. null when a stock worker is quicker: then its work has to be waited for. */
async function build(db: Database & { client: PoolClient }): Promise<MigrationOutcome | null> {
  const { client, schema } = db;
  let state = await schemaState(db);
  if (state.kind === "empty" && state.hasLedger) {
    // A stock worker writes its ledger before anything else, and takes no advisory lock. Holding
    // the ledger makes it wait for us; then it finds all its steps done.
    await client.query(`lock table ${schema.quoted}.migrations in share row exclusive mode`);
    state = await schemaState(db);
  }
  if (state.kind === "ready") return adopt(db, state);
  if (state.kind !== "absent" && state.kind !== "empty") return null;
  await checkVersion(client);
  // Not `if not exists`: that asks for the right to create schemas even where one is there.
  if (state.kind === "absent") await createSchema(db);
  await client.query(render(baseline, schema));
  await addExtensions(db, new Set());
  // No word on channel worker:migrate: it is the whole database's, a stock worker stops at any
  // breaking step it hears of, and nobody can be running on a schema that did not exist.
  return { kind: "created", level: KNOWN_LEVEL, extensions: ["workers"], warnings: [] };
}

async function adopt(
  db: Database & { client: PoolClient },
  state: ReadySchema,
): Promise<MigrationOutcome> {
  if (isComplete(state)) return current(state);
  await addExtensions(db, state.objects);
  return {
    kind: state.origin === "ours" ? "current" : "adopted",
    level: state.level,
    extensions: state.extensions.has("workers") ? [] : ["workers"],
    warnings: state.warning === null ? [] : [state.warning],
  };
}

/**
 * Makes what is not there. Objects that the Rust port has made stay as they are, because its
 * processes go on using them and its later versions replace them; version 0 in the ledger says
 * that they are not ours to replace. Our own code relies on the table only, never on functions
 * that may behave differently (the Rust port's recover_dead_worker_jobs lowers attempts).
 */
async function addExtensions(
  { client, schema }: Database & { client: PoolClient },
  present: ReadonlySet<string>,
): Promise<void> {
  await client.query(`
    create table if not exists ${schema.quoted}._private_extensions (
      name text primary key,
      version int not null,
      applied_at timestamptz not null default now()
    )`);
  const [, ...parts] = extensionWorkers.split(/^--- (?=\w+$)/m);
  for (const part of parts) {
    const end = part.indexOf("\n");
    if (!present.has(part.slice(0, end))) await client.query(render(part.slice(end), schema));
  }
  await client.query(
    `insert into ${schema.quoted}._private_extensions (name, version)
     values ('workers', $1::int) on conflict (name) do nothing`,
    [present.size === 0 ? EXTENSION_VERSION : 0],
  );
}

async function checkVersion(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number }>(
    "select current_setting('server_version') as version, current_setting('server_version_num')::int as number",
  );
  const server = rows[0];
  if (server !== undefined && server.number < 140_000) {
    throw new WorkerError(
      "schema_unsupported",
      `PostgreSQL 14 or later is needed, this is ${server.version}; upgrade the server`,
    );
  }
}

async function createSchema({ client, schema }: Database & { client: PoolClient }): Promise<void> {
  try {
    await client.query(`create schema ${schema.quoted}`);
  } catch (error) {
    if (codeOf(error) !== MAY_NOT) throw error;
    throw new WorkerError(
      "database_error",
      `this role may not create a schema (${messageOf(error)}); let the database's owner run: create schema ${schema.quoted} authorization <this role>`,
      { cause: error },
    );
  }
}

/**
 * Puts the schema into SQL text. `:schema` must not stand in a comment, since a name may hold a
 * line break; and `$body$` becomes a dollar quote that the name does not contain.
 */
function render(sql: string, schema: SchemaName): string {
  let tag = "$body$";
  while (schema.quoted.includes(tag)) tag = tag.replace("y$", "yy$");
  return sql.replaceAll("$body$", () => tag).replaceAll(":schema", () => schema.quoted);
}
