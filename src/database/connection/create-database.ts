// Makes the database that an embedded server is started for.
import type pg from "pg";
import { Client } from "./client.ts";

/** Creates the database unless it is there; `fresh` drops what is there first, sessions and all. */
export async function createDatabase(
  server: pg.ClientConfig,
  name: string,
  fresh: boolean,
): Promise<void> {
  const client = new Client(server);
  const quoted = client.escapeIdentifier(name);
  // Its loss is told to the statement under way; the event would end the process.
  client.on("error", () => {});
  await client.connect();
  try {
    if (fresh) await client.query(`drop database if exists ${quoted} with (force)`);
    const { rowCount } = await client.query("select from pg_database where datname = $1", [name]);
    if (rowCount === 0) await client.query(`create database ${quoted}`);
  } finally {
    await client.end();
  }
}
