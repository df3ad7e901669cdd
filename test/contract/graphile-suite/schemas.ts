// The schemas on which Graphile Worker's tests run.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { extensions } from "../../../src/database/schema/extensions/index.ts";
import { migrate } from "../../../src/database/schema/migrate.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import { connectionOf } from "./suite.ts";

const SCHEMA = "graphile_worker";
/** The suite copies it for each of its files. */
const TEMPLATE = "graphile_worker_testtemplate";

interface Server {
  url(database?: string): string;
}

/** Creates the template with the package's own schema. */
export async function makeTemplate(server: Server, suite: string): Promise<void> {
  await administer(server, `create database ${TEMPLATE}`);
  execFileSync(
    process.execPath,
    ["node_modules/graphile-worker/dist/cli.js", "--schema-only", "-c", `postgres:///${TEMPLATE}`],
    { cwd: suite, stdio: "ignore", env: { ...process.env, ...connectionOf(server) } },
  );
}

/** Returns a file with the SQL that makes our schema with all extensions. */
export async function schemaWithExtensions(server: Server, directory: string): Promise<string> {
  await administer(server, "create database extended");
  const pool = new pg.Pool({ connectionString: server.url("extended") });
  const names = extensions.map(({ name }) => name);
  await migrate(pool, schemaName(SCHEMA), { extensions: names });
  await pool.end();
  const dump = execFileSync("pg_dump", ["--inserts", "-n", SCHEMA, "extended"], {
    encoding: "utf8",
    env: { ...process.env, ...connectionOf(server) },
  });
  // Without settings of the session and commands of psql. Functions come before the tables that they read.
  const lines = dump
    .split("\n")
    .filter((line) => !/^SET |^\\|set_config\('search_path'/.test(line));
  const file = join(directory, "extended.sql");
  writeFileSync(file, ["set local check_function_bodies = false;", ...lines].join("\n"));
  return file;
}

async function administer(server: Server, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.url() });
  await client.connect();
  await client.query(text);
  await client.end();
}
