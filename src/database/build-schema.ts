// What a migration does, inside migrate.ts's transaction: the whole schema where there is none,
// and beside somebody else's (Graphile Worker's, its Rust port's) only our additions. Additions
// have a ledger of their own, because the Rust port used Graphile's ids 19 and 20 for other things.
import type { PoolClient } from "pg";
import { codeOf, messageOf, WorkerError } from "../base/errors.ts";
import { type Database, query } from "./database.ts";
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

export interface MigrationOutcome {
  /** `adopted`: somebody else's installation got our additions; `current`: it had them. */
  readonly kind: "created" | "adopted" | "current";
  readonly level: number;
  /** Extensions that were added now. */
  readonly extensions: readonly Extension[];
  /** For the operator: what could not be done, or will need attention. */
  readonly warnings: readonly string[];
}

type Transaction = Database & { readonly client: PoolClient };

const EXTENSION_VERSION = 1;

/** Nothing is left to add. */
export function isComplete(state: ReadySchema): boolean {
  return state.origin === "ours" && workersObjects.every((name) => state.objects.has(name));
}

export function current(state: ReadySchema, ...warnings: string[]): MigrationOutcome {
  if (state.warning !== null) warnings.unshift(state.warning);
  return { kind: "current", level: state.level, extensions: [], warnings };
}

/**
 * Builds or adopts, in the caller's transaction and under its lock. null when a stock worker is
 * quicker: then its work has to be waited for.
 */
export async function build(db: Transaction): Promise<MigrationOutcome | null> {
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
  await checkVersion(db);
  // Not `if not exists`: that asks for the right to create schemas even where one is there.
  if (state.kind === "absent") await createSchema(db);
  await client.query(render(baseline, schema));
  await addExtensions(db, new Set());
  // No word on channel worker:migrate: it is the whole database's, a stock worker stops at any
  // breaking step it hears of, and nobody can be running on a schema that did not exist.
  return { kind: "created", level: KNOWN_LEVEL, extensions: ["workers"], warnings: [] };
}

async function adopt(db: Transaction, state: ReadySchema): Promise<MigrationOutcome> {
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
 * that they are not ours to replace. Its recover_dead_worker_jobs lowers attempts, so that a job
 * which kills its worker loops for ever: our own code never calls that function.
 */
async function addExtensions(
  { client, schema }: Transaction,
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

const serverVersion = () => `
  select
    current_setting('server_version') as version,
    current_setting('server_version_num')::int as number`;

async function checkVersion(db: Database): Promise<void> {
  const [server] = await query<{ version: string; number: number }>(db, serverVersion);
  if (server !== undefined && server.number < 140_000) {
    throw new WorkerError(
      "schema_unsupported",
      `PostgreSQL 14 or later is needed, this is ${server.version}; upgrade the server`,
    );
  }
}

async function createSchema({ client, schema }: Transaction): Promise<void> {
  try {
    await client.query(`create schema ${schema.quoted}`);
  } catch (error) {
    if (codeOf(error) !== "42501") throw error;
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
