// The steps of a migration, in a transaction that migrate.ts has begun. A missing or empty schema gets all tables and
// functions. In a schema with a queue, extensions are added and upgraded, and functions that use another schema's
// tables are rewritten.
import { codeOf, messageOf, WorkerError } from "../../base/errors.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";
import { type Database, query } from "../database.ts";
import { readStrayFunctions, strayMessage } from "../stray-functions.ts";
import { addExtensions, type Transaction } from "./add-extensions.ts";
import { type Extension, unfinishedExtensions } from "./extensions/extension.ts";
import { render } from "./render-sql.ts";
import { KNOWN_LEVEL, type ReadySchema, schemaState } from "./schema-state.ts";

/** The result of migrate(). */
export interface MigrationOutcome {
  /**
   * What was done. `created`: the schema was missing or empty. `adopted`: a schema of another program, such as Graphile
   * Worker, was changed for the first time. `upgraded`: a schema that this library has created or adopted was changed.
   * `current`: nothing changed.
   */
  readonly kind: "created" | "adopted" | "upgraded" | "current";
  /** The schema's level. */
  readonly level: number;
  /** The names of the extensions that were added or upgraded. */
  readonly extensions: readonly string[];
  /** Warnings for the operator. */
  readonly warnings: readonly string[];
}

/** What a migration has to do. */
export interface MigrationPlan {
  /** All extensions that this version of the library has. */
  readonly registry: readonly Extension[];
  /** The names of extensions to add, besides those that every migration adds. */
  readonly requested: readonly string[];
  /** What to do with a schema that already has a queue. `leave`: nothing. */
  readonly existing: "bring up to date" | "leave";
}

/** Returns the extensions that a migration with this plan has to add or upgrade. */
export function workLeft(state: ReadySchema, plan: MigrationPlan): readonly Extension[] {
  return plan.existing === "leave"
    ? []
    : unfinishedExtensions(plan.registry, state, plan.requested);
}

export function current(state: ReadySchema, ...warnings: string[]): MigrationOutcome {
  const { level } = state;
  return { kind: "current", level, extensions: [], warnings: [...state.warnings, ...warnings] };
}

/**
 * Creates or upgrades the schema, in the caller's transaction. The caller must hold the lock of migrations. Returns
 * null if the schema cannot be used now, for example because a Graphile worker is migrating it.
 */
export async function build(
  db: Transaction,
  plan: MigrationPlan,
): Promise<MigrationOutcome | null> {
  const { client, schema } = db;
  let state = await schemaState(db, plan.registry);
  if (state.kind === "empty" && state.hasLedger) {
    // A Graphile worker takes no advisory lock, but begins each step of a migration with an insert into `migrations`.
    // The lock on this table makes the insert wait until this transaction has ended.
    await client.query(`lock table ${schema.quoted}.migrations in share row exclusive mode`);
    state = await schemaState(db, plan.registry);
  }
  if (state.kind === "ready") return bringUpToDate(db, state, plan);
  if (state.kind !== "absent" && state.kind !== "empty") return null;
  await checkVersion(db);
  // `create schema if not exists` would require the privilege to create schemas even if the schema exists.
  if (state.kind === "absent") await createSchema(db);
  await createTables(db);
  const nothing = { objects: new Set<string>(), versions: new Map<string, number>() };
  const extensions = unfinishedExtensions(plan.registry, nothing, plan.requested);
  await addExtensions(db, extensions, nothing);
  // The migration is not announced on Graphile Worker's channel worker:migrate. All schemas of the database share the
  // channel, and a Graphile worker stops when a breaking migration of any schema is announced.
  return { kind: "created", level: KNOWN_LEVEL, extensions: namesOf(extensions), warnings: [] };
}

async function bringUpToDate(
  db: Transaction,
  state: ReadySchema,
  plan: MigrationPlan,
): Promise<MigrationOutcome> {
  const left = workLeft(state, plan);
  const strays = plan.existing === "leave" ? [] : await readStrayFunctions(db);
  if (left.length + strays.length === 0) return current(state);
  await addExtensions(db, left, state);
  for (const stray of strays) {
    await explainMissingPrivilege(
      () => db.client.query(stray.statement),
      () => strayMessage(db.schema.name, stray),
    );
  }
  return {
    kind: state.origin === "ours" ? "upgraded" : "adopted",
    level: state.level,
    extensions: namesOf(left),
    warnings: state.warnings,
  };
}

const namesOf = (extensions: readonly Extension[]) => extensions.map(({ name }) => name);

const serverVersion = () => `
  select
    pg_catalog.current_setting('server_version') as version,
    pg_catalog.current_setting('server_version_num')::int as number`;

async function checkVersion(db: Database): Promise<void> {
  const [server] = await query<{ version: string; number: number }>(db, serverVersion);
  if (server !== undefined && server.number < 140_000) {
    throw new WorkerError(
      "schema_unsupported",
      `PostgreSQL 14 or later is needed, this is ${server.version}; upgrade the server`,
    );
  }
}

function createSchema({ client, schema }: Transaction): Promise<void> {
  return explainMissingPrivilege(
    () => client.query(`create schema ${schema.quoted}`),
    (detail) =>
      `this role may not create a schema (${detail}); let the database's owner run: create schema ${schema.quoted} authorization <this role>`,
  );
}

async function createTables({ client, schema }: Transaction): Promise<void> {
  // Most processes find an existing schema and do not need the SQL.
  const { default: baseline } = await import("./baseline.sql");
  return explainMissingPrivilege(
    () => client.query(render(baseline, schema)),
    (detail) =>
      `this role may not create tables in the schema "${schema.name}" (${detail}); run "${workerLine(schema.name, "worker migrate")}" as its owner, or let the owner run: grant usage, create on schema ${schema.quoted} to <this role>`,
  );
}

async function explainMissingPrivilege(
  work: () => Promise<unknown>,
  sentence: (detail: string) => string,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (codeOf(error) !== "42501") throw error;
    throw new WorkerError("database_error", sentence(messageOf(error)), { cause: error });
  }
}
