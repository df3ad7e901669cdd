// Builds and drops optional indexes while workers run. CREATE INDEX CONCURRENTLY is one statement
// outside a transaction, so it also works behind a transaction pooler. There is no advisory lock: one
// of a transaction would have to stay open all the while, one of a session is lost behind a pooler.
// PostgreSQL itself lets one build after the other at a table; we look first and say who is at work.
import type { Pool } from "pg";
import { wait } from "../../../base/clock.ts";
import { WorkerError } from "../../../base/errors.ts";
import { longConnection } from "../../connection/long-connection.ts";
import { type Database, query, type Statement } from "../../database.ts";
import { explainDatabaseError } from "../../errors/database-errors.ts";
import type { SchemaName } from "../../schema-name.ts";
import { createPrefix, readBuilds } from "./build-progress.ts";
import { type FoundIndex, findIndexes } from "./found-indexes.ts";
import {
  type IndexName,
  indexDefinition,
  type OptionalIndex,
  optionalIndex,
} from "./optional-index.ts";
import { forgetIndexes } from "./usable-indexes.ts";

// It waits for transactions that are older than itself, such as a backup's: nobody waits behind it.
const LONGEST_WAIT_MS = 600_000;

/** Where an index can be built: the pool says how to connect, `db` has bounded statements. */
export interface IndexPlace {
  readonly pool: Pool;
  readonly db: Database;
}

/**
 * What building would do: nothing where there is one that does, or it is being built. Throws WorkerError
 * when another one is being built, unless the caller `mayWait` for that.
 */
export async function planBuild(
  { db }: IndexPlace,
  name: IndexName,
  mayWait = false,
): Promise<"there" | "building" | "to build"> {
  const found = await findIndexes(db);
  if (found.some((one) => one.name === name && one.isValid)) return "there";
  const builds = await readBuilds(db);
  if (builds.some((one) => one.name === name)) return "building";
  const [other] = builds;
  if (other === undefined || mayWait) return "to build";
  throw new WorkerError(
    "database_busy",
    `the index ${other.name ?? other.indexName ?? "of somebody else"} is being built; wait until it is done, or cancel it`,
  );
}

export interface BuildSignals {
  /** Cancels the build; what was begun is dropped again. */
  readonly cancel: AbortSignal;
  /** Nobody waits for it any more: PostgreSQL goes on building by itself. */
  readonly leave: AbortSignal;
}

/**
 * Builds the index; resolves when it can be used. When it fails, what was begun is dropped again.
 * Throws WorkerError.
 */
export async function buildIndex(
  place: IndexPlace,
  name: IndexName,
  { cancel, leave }: BuildSignals,
): Promise<void> {
  const { pool, db } = place;
  const index = optionalIndex(name);
  const operatorClassSchema = await operatorClassSchemaOf(db, index);
  if (operatorClassSchema === null) throw new WorkerError("configuration", lackOf(index));
  const text = createPrefix(db.schema, index) + indexDefinition(index, operatorClassSchema);
  // What a build that broke off has left is of no use, and costs as much as a whole one.
  await dropBroken(place, index);
  if (cancel.aborted) throw cancelled(name);
  const ended = new AbortController();
  cancel.addEventListener("abort", () => void cancelUntil(db, name, ended.signal), {
    signal: ended.signal,
  });
  try {
    await alone(pool, db.schema, text, leave);
  } catch (error) {
    if (leave.aborted) throw error;
    await dropBroken(place, index).catch(() => {});
    throw cancel.aborted ? cancelled(name, error) : error;
  } finally {
    ended.abort();
    forgetIndexes(db.schema);
  }
}

function cancelled(name: IndexName, cause?: unknown): WorkerError {
  return new WorkerError("aborted", `the build of the index ${name} was cancelled`, { cause });
}

/** The statement may be on its way to PostgreSQL yet, so one word may come too early. */
async function cancelUntil(db: Database, name: IndexName, ended: AbortSignal): Promise<void> {
  do await cancelBuild(db, name).catch(() => {});
  while (await wait(CANCEL_EVERY_MS, ended));
}

const CANCEL_EVERY_MS = 250;

/** Whether there was a build to cancel, in whatever process. It ends a moment later. */
export async function cancelBuild(db: Database, name: IndexName): Promise<boolean> {
  const builds = (await readBuilds(db)).filter((one) => one.name === name);
  for (const { pid } of builds) await query(db, cancelSql, [pid]);
  return builds.length > 0;
}

const cancelSql: Statement = () => "select pg_catalog.pg_cancel_backend($1::int)";

/** Drops what bears our name. Gives what was dropped; null where there is nothing of ours. */
export async function dropIndex(place: IndexPlace, name: IndexName): Promise<FoundIndex | null> {
  const { pool, db } = place;
  const builds = await readBuilds(db);
  if (builds.some((one) => one.name === name)) {
    throw new WorkerError("database_busy", `the index ${name} is being built; cancel that first`);
  }
  const ours = (await findIndexes(db)).find((one) => one.name === name && one.isOurs);
  if (ours === undefined) return null;
  await alone(pool, db.schema, dropText(db.schema, ours.indexName));
  forgetIndexes(db.schema);
  return ours;
}

async function dropBroken({ pool, db }: IndexPlace, { name }: OptionalIndex): Promise<void> {
  const found = await findIndexes(db);
  const broken = found.find((one) => one.name === name && one.isOurs && !one.isValid);
  if (broken !== undefined) await alone(pool, db.schema, dropText(db.schema, broken.indexName));
}

/** Runs one statement on a connection of its own, without a time limit. */
async function alone(
  pool: Pool,
  schema: SchemaName,
  text: string,
  leave: AbortSignal = NEVER,
): Promise<void> {
  try {
    const client = await longConnection(pool, {
      lockTimeoutMs: LONGEST_WAIT_MS,
      applicationName: "worker indexes",
    });
    // Ending a client whose statement is under way cuts the connection, and PostgreSQL goes on.
    const cut = () => void client.end().catch(() => {});
    leave.addEventListener("abort", cut, { once: true });
    try {
      await client.query(text);
    } finally {
      leave.removeEventListener("abort", cut);
      await client.end();
    }
  } catch (error) {
    throw explainDatabaseError(error, schema.name);
  }
}

const NEVER = new AbortController().signal;

const dropText = (schema: SchemaName, indexName: string) =>
  `drop index concurrently if exists ${schema.quoted}."${indexName}"`;

/** Why it cannot be built in this database; null: it can. */
export async function whyNotBuilt(db: Database, name: IndexName): Promise<string | null> {
  const index = optionalIndex(name);
  return (await operatorClassSchemaOf(db, index)) === null ? lackOf(index) : null;
}

const lackOf = ({ name }: OptionalIndex) =>
  `the index ${name} needs PostgreSQL's extension pg_trgm; let the database's owner run: create extension pg_trgm`;

/** The schema of the operator class, quoted and with its dot; empty for the default one; null: missing. */
async function operatorClassSchemaOf(db: Database, index: OptionalIndex): Promise<string | null> {
  if (index.operatorClass === null) return "";
  const values = [index.operatorClass, index.method];
  const [row] = await query<{ schema: string }>(db, operatorClassSql, values);
  return row === undefined ? null : `${row.schema}.`;
}

const operatorClassSql: Statement = () => `
  select pg_catalog.quote_ident(n.nspname) as schema
  from pg_catalog.pg_opclass o
  join pg_catalog.pg_namespace n on n.oid = o.opcnamespace
  join pg_catalog.pg_am a on a.oid = o.opcmethod
  where o.opcname = $1::text and a.amname = $2::text`;
