// Databases for tests, on the PostgreSQL server of TEST_DATABASE_URL or DATABASE_URL. If neither variable is set, the
// test file starts a server of its own. A database is dropped when its test file ends, or later if the database still
// has connections.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import pg from "pg";
import { silentLogger } from "../../src/base/logger.ts";
import { isAlive } from "../../src/database/embedded/owner.ts";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/database/embedded/server.ts";
import { dropDatabases, PREFIX, TEST_SETTINGS } from "./database-server.ts";

export interface TestDatabase {
  readonly name: string;
  /** The URL for the superuser. */
  readonly url: string;
}

let started: Promise<string> | null = null;
let own: { server: EmbeddedServer; directory: string } | null = null;
let count = 0;
const made: string[] = [];

/** Creates a new empty database. */
export async function emptyDatabase(): Promise<TestDatabase> {
  return administer((client) => createDatabase(client, "template0"));
}

/** Creates a new database with the queue's schema, as `worker migrate --with EXTENSIONS` creates it. */
export async function migratedDatabase(
  schema = "worker",
  extensions: readonly string[] = [],
): Promise<TestDatabase> {
  return databaseLike(["migrated", schema, ...extensions].join("_"), async (url) => {
    const { migrate } = await import("../../src/database/schema/migrate.ts");
    const { schemaName } = await import("../../src/database/schema-name.ts");
    const pool = new pg.Pool({ connectionString: url });
    const signal = new AbortController().signal;
    await migrate(pool, schemaName(schema), { logger: silentLogger, signal, extensions });
    await pool.end();
  });
}

/**
 * Creates a copy of the template database for `key`. If the template does not exist, `fill` adds its contents. `fill`
 * must close its connections: PostgreSQL cannot rename a database that has connections.
 */
export async function databaseLike(
  key: string,
  fill: (url: string) => Promise<void>,
): Promise<TestDatabase> {
  const template = PREFIX + key;
  return administer(async (client) => {
    if (!(await exists(client, template))) {
      // Test files run in parallel. Only one of them may create the template.
      await client.query("select pg_advisory_lock(hashtext($1))", [template]);
      if (!(await exists(client, template))) {
        const draft = await createDatabase(client, "template0");
        await fill(draft.url);
        await client.query(`alter database ${draft.name} rename to "${template}"`);
      }
      await client.query("select pg_advisory_unlock_all()");
    }
    return createDatabase(client, template);
  });
}

/** Returns the URL of the server for the superuser. */
export async function serverUrl(): Promise<string> {
  started ??= start();
  return started;
}

async function start(): Promise<string> {
  const given = process.env["TEST_DATABASE_URL"] ?? process.env["DATABASE_URL"];
  if (given !== undefined) {
    await dropDatabases(given, (pid) => pid !== null && !isAlive(pid));
    return given;
  }
  const directory = mkdtempSync(join(tmpdir(), "worker-test-"));
  own = {
    directory,
    server: await startEmbeddedServer({ dataDir: directory, settings: TEST_SETTINGS }),
  };
  return own.server.url();
}

async function createDatabase(client: pg.Client, template: string): Promise<TestDatabase> {
  const name = `${PREFIX}p${process.pid}_${count++}_${randomBytes(3).toString("hex")}`;
  const { rows } = await client.query<{ v: number }>(
    "select current_setting('server_version_num')::int as v",
  );
  // By default, PostgreSQL 15 and later write all pages of the new database to the write-ahead log, which takes three
  // times as long as copying the files.
  const how = (rows[0]?.v ?? 0) < 150_000 ? "" : "strategy file_copy";
  await client.query(`create database ${name} template "${template}" ${how}`);
  made.push(name);
  return { name, url: withDatabase(await serverUrl(), name) };
}

async function administer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: await serverUrl() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function exists(client: pg.Client, name: string): Promise<boolean> {
  const { rowCount } = await client.query("select from pg_database where datname = $1", [name]);
  return rowCount === 1;
}

function withDatabase(url: string, name: string): string {
  return url.replace(/^([a-z]+:\/\/[^/?]*)(\/[^?]*)?/, `$1/${name}`);
}

after(async () => {
  if (own !== null) {
    await own.server.stop();
    rmSync(own.directory, { recursive: true, force: true });
  } else if (made.length > 0) {
    await administer(async (client) => {
      // For a database with connections, `drop database` would wait five seconds and then fail.
      const { rows } = await client.query<{ name: string }>(
        `select datname as name from pg_database where datname = any ($1)
         and datname not in (select datname from pg_stat_activity where datname is not null)`,
        [made],
      );
      for (const { name } of rows) {
        await client.query(`drop database if exists "${name}"`).catch(() => {});
      }
    });
  }
});
