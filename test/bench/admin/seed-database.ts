// Creates a database with the queue's schema and seeded jobs. An existing database of the same name is dropped.
import pg from "pg";
import { silentLogger } from "../../../src/base/logger.ts";
import { migrate } from "../../../src/database/schema/migrate.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import { seedJobs } from "./seed-jobs.ts";

export interface SeedDatabaseOptions {
  readonly jobs: number;
  readonly isSorted: boolean;
  readonly schema: string;
  readonly connections: number;
  readonly progress: (line: string) => void;
}

/** Creates the database `name` on the server, and returns its connection string. */
export async function seedDatabase(
  server: string,
  name: string,
  { connections, ...options }: SeedDatabaseOptions,
): Promise<string> {
  const url = withDatabase(server, name);
  const schema = schemaName(options.schema);
  const admin = await connect(server);
  await admin.query(`drop database if exists "${name}" with (force)`);
  await admin.query(`create database "${name}"`);
  await admin.end();
  const pool = new pg.Pool({ connectionString: url });
  await migrate(pool, schema, { logger: silentLogger });
  await pool.end();
  const first = await connect(url);
  const others = await Promise.all(Array.from({ length: connections - 1 }, () => connect(url)));
  await seedJobs([first, ...others], { ...options, schema: schema.quoted });
  await Promise.all([first, ...others].map((client) => client.end()));
  return url;
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

/** Returns the URL of another database on the same server. */
function withDatabase(url: string, name: string): string {
  return url.replace(/^([a-z]+:\/\/[^/?]*)(\/[^?]*)?/, `$1/${name}`);
}
