// Adds and upgrades extensions (extension.ts) in the caller's transaction, which holds the lock for migrations. The
// versions are recorded in the table `_private_extensions`, the ledger. Graphile Worker's table `migrations` is not
// used, because the Rust port used the ids 19 and 20 of that table for other things.
import type { PoolClient } from "pg";
import { WorkerError } from "../../base/errors.ts";
import type { Database } from "../database.ts";
import { explainDatabaseError } from "../errors/database-errors.ts";
import type { Extension, Versions } from "./extensions/extension.ts";
import { render } from "./render-sql.ts";

export type Transaction = Database & { readonly client: PoolClient };

/** The objects of extensions that exist in the schema, and the versions in the ledger. */
export interface ExistingObjects {
  readonly objects: ReadonlySet<string>;
  readonly versions: Versions;
}

/** Adds or upgrades the extensions and records their versions. After an error the transaction must be rolled back. */
export async function addExtensions(
  db: Transaction,
  extensions: readonly Extension[],
  present: ExistingObjects,
): Promise<void> {
  await db.client.query(`
    create table if not exists ${db.schema.quoted}._private_extensions (
      name text primary key,
      version int not null,
      applied_at timestamptz not null default pg_catalog.now()
    )`);
  for (const extension of extensions) {
    const version = await addExtension(db, extension, present);
    await record(db, extension.name, version);
  }
}

/**
 * Returns the version to record in the ledger: 0 if another program has created some of the extension's objects. These
 * objects are not changed, because the other program uses and may replace them.
 */
async function addExtension(
  db: Transaction,
  extension: Extension,
  { objects, versions }: ExistingObjects,
): Promise<number> {
  const recorded = versions?.get(extension.name);
  const from = recorded ?? 0;
  const isOurs =
    recorded === undefined ? !extension.objects.some((one) => objects.has(one)) : recorded > 0;
  // If an object is created here, its changes of recorded versions run, too, because the object may have been dropped.
  const created = new Set<string>();
  for (const [index, parts] of extension.parts.entries()) {
    const version = index + 1;
    for (const { does, object, sql } of parts) {
      const isNeeded =
        does === "create"
          ? !objects.has(object) && !created.has(object)
          : created.has(object) || (isOurs && version > from);
      if (!isNeeded) continue;
      if (does === "create") created.add(object);
      try {
        await db.client.query(render(sql, db.schema));
      } catch (error) {
        throw stepError(db, { extension, from, version, object }, error);
      }
    }
  }
  return isOurs ? extension.version : 0;
}

function stepError(
  db: Transaction,
  step: {
    readonly extension: Extension;
    readonly from: number;
    readonly version: number;
    readonly object: string;
  },
  cause: unknown,
): WorkerError {
  const { extension, from, version, object } = step;
  const { code, message } = explainDatabaseError(cause, db.schema.name);
  const what = from === 0 ? "added" : `upgraded from version ${from} to ${version}`;
  const sentence = `the extension "${extension.name}" could not be ${what}, at "${object}": ${message}; nothing has been changed`;
  return new WorkerError(code, sentence, { cause });
}

async function record({ client, schema }: Transaction, name: string, version: number) {
  await client.query(
    `insert into ${schema.quoted}._private_extensions as known (name, version)
     values ($1::text, $2::int)
     on conflict (name) do update set version = excluded.version, applied_at = pg_catalog.now()
     where known.version <> excluded.version`,
    [name, version],
  );
}
