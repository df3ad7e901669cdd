// Creates the database of an embedded server.
import type pg from "pg";
import { Client } from "./client.ts";

/** Creates the database unless it exists. If `fresh`, ends the sessions of an existing database and drops it first. */
export async function createDatabase(
  server: pg.ClientConfig,
  name: string,
  fresh: boolean,
): Promise<void> {
  const client = new Client(server);
  const quoted = client.escapeIdentifier(name);
  // If the connection is lost, the running statement rejects. The client may also emit `error`, which would end the
  // process if there were no listener.
  client.on("error", () => {});
  await client.connect();
  try {
    if (fresh) await client.query(`drop database if exists ${quoted} with (force)`);
    const { rowCount } = await client.query(
      "select from pg_catalog.pg_database where datname = $1",
      [name],
    );
    if (rowCount === 0) await client.query(`create database ${quoted}`);
  } finally {
    await client.end();
  }
}
