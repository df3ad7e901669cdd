// Makes the database that an embedded server is started for.
import pg from "pg";

/** Creates the database unless it is there; `fresh` drops what is there first, sessions and all. */
export async function createDatabase(
  server: pg.ClientConfig,
  name: string,
  fresh: boolean,
): Promise<void> {
  const client = new pg.Client(server);
  const quoted = client.escapeIdentifier(name);
  await client.connect();
  try {
    if (fresh) await client.query(`drop database if exists ${quoted} with (force)`);
    const { rowCount } = await client.query("select from pg_database where datname = $1", [name]);
    if (rowCount === 0) await client.query(`create database ${quoted}`);
  } finally {
    await client.end();
  }
}
