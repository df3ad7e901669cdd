// Builds and drops optional indexes of the table of jobs while workers run. No advisory lock protects a build: a build
// cannot run in a transaction, and the lock of a session is lost behind a transaction pooler. PostgreSQL itself runs
// the builds on one table one after the other.
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
import { invalidateIndexes } from "./usable-indexes.ts";

// How long a build or a drop waits for an older transaction, for example of a backup. The wait does not block workers.
const MAX_WAIT_MS = 600_000;

/** The database of the indexes. A build or drop connects with the settings of `pool`. */
export interface IndexPlace {
  readonly pool: Pool;
  readonly db: Database;
}

/**
 * Returns `exists` if the database has a valid index of this form, under any name. Throws WorkerError if the build
 * would have to wait for the build of another index and `mayWait` is false.
 */
export async function planBuild(
  { db }: IndexPlace,
  name: IndexName,
  mayWait = false,
): Promise<"exists" | "building" | "to build"> {
  const found = await findIndexes(db);
  if (found.some((one) => one.name === name && one.isValid)) return "exists";
  const builds = await readBuilds(db);
  if (builds.some((one) => one.name === name)) return "building";
  const [other] = builds;
  if (other === undefined || mayWait) return "to build";
  throw new WorkerError(
    "database_busy",
    `the index ${other.name ?? other.indexName ?? "of another program"} is being built; wait until it is finished, or cancel it`,
  );
}

export interface BuildSignals {
  /** Cancels the build. The incomplete index is dropped if possible. */
  readonly cancel: AbortSignal;
  /** Makes buildIndex() stop waiting and throw. PostgreSQL completes a build that has begun. */
  readonly leave: AbortSignal;
}

/**
 * Builds the index. Resolves when queries can use the index. If the build fails or is cancelled, drops the incomplete
 * index, if possible, and throws WorkerError.
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
  // An earlier build that failed may have left an incomplete index.
  await dropBroken(place, index, leave);
  if (cancel.aborted) throw cancelledError(name);
  const ended = new AbortController();
  cancel.addEventListener("abort", () => void cancelUntil(db, name, ended.signal), {
    signal: ended.signal,
  });
  try {
    await runAlone(pool, db.schema, text, leave);
  } catch (error) {
    if (leave.aborted) throw error;
    await dropBroken(place, index, leave).catch(() => {});
    throw cancel.aborted ? cancelledError(name, error) : error;
  } finally {
    ended.abort();
    invalidateIndexes(db.schema);
  }
}

function cancelledError(name: IndexName, cause?: unknown): WorkerError {
  return new WorkerError("aborted", `the build of the index ${name} was cancelled`, { cause });
}

/** Repeats the cancel request until the build has ended. The first request may reach PostgreSQL before the build. */
async function cancelUntil(db: Database, name: IndexName, ended: AbortSignal): Promise<void> {
  do await cancelBuild(db, name).catch(() => {});
  while (await wait(CANCEL_EVERY_MS, ended));
}

const CANCEL_EVERY_MS = 250;

/** Cancels all running builds of the index, of any process. Returns whether there were any. */
export async function cancelBuild(db: Database, name: IndexName): Promise<boolean> {
  const builds = (await readBuilds(db)).filter((one) => one.name === name);
  for (const { pid } of builds) await query(db, cancelSql, [pid]);
  return builds.length > 0;
}

const cancelSql: Statement = () => "select pg_catalog.pg_cancel_backend($1::int)";

/**
 * Drops the index, valid or not, if it has the name that this library gives it. Returns the dropped index; null if
 * there was no such index. Throws WorkerError while the index is being built.
 */
export async function dropIndex(place: IndexPlace, name: IndexName): Promise<FoundIndex | null> {
  const { pool, db } = place;
  await assertNotBuilding(db, name);
  const ours = (await findIndexes(db)).find((one) => one.name === name && one.isOurs);
  if (ours === undefined) return null;
  await runAlone(pool, db.schema, dropText(db.schema, ours.indexName));
  invalidateIndexes(db.schema);
  return ours;
}

async function dropBroken(
  { pool, db }: IndexPlace,
  { name }: OptionalIndex,
  leave: AbortSignal,
): Promise<void> {
  await assertNotBuilding(db, name);
  const found = await findIndexes(db);
  const broken = found.find((one) => one.name === name && one.isOurs && !one.isValid);
  if (broken === undefined) return;
  await runAlone(pool, db.schema, dropText(db.schema, broken.indexName), leave);
}

/** Throws if the index is being built, because a drop would wait for the build. */
async function assertNotBuilding(db: Database, name: IndexName): Promise<void> {
  if (!(await readBuilds(db)).some((one) => one.name === name)) return;
  throw new WorkerError("database_busy", `the index ${name} is being built; cancel that first`);
}

/** Runs one statement on a connection of its own. */
async function runAlone(
  pool: Pool,
  schema: SchemaName,
  text: string,
  leave: AbortSignal = NEVER,
): Promise<void> {
  try {
    const client = await longConnection(pool, {
      lockTimeoutMs: MAX_WAIT_MS,
      applicationName: "worker indexes",
    });
    // end() during a statement cuts the connection. PostgreSQL completes the statement nevertheless.
    const cut = () => void client.end().catch(() => {});
    leave.addEventListener("abort", cut, { once: true });
    try {
      leave.throwIfAborted();
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

/** Returns why the index cannot be built in this database; null if it can be built. */
export async function whyNotBuilt(db: Database, name: IndexName): Promise<string | null> {
  const index = optionalIndex(name);
  return (await operatorClassSchemaOf(db, index)) === null ? lackOf(index) : null;
}

const lackOf = ({ name }: OptionalIndex) =>
  `the index ${name} needs PostgreSQL's extension pg_trgm; let the database's owner run: create extension pg_trgm`;

/**
 * Returns the schema of the index's operator class, as SQL with a dot at the end; empty if the index uses the default
 * class; null if the database does not have the class.
 */
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
