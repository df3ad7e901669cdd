// The settings of the server for test databases, and the databases of a run.
import pg from "pg";

/** These settings are fast, because nothing must survive a crash of the machine. */
export const TEST_SETTINGS = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "200",
  shared_buffers: "64MB",
};

/** The prefix of this run's databases; test/run.mjs passes TEST_RUN, the run's number, to its files. */
export const PREFIX = `worker_test_${process.env["TEST_RUN"] ?? `alone${process.pid}`}_`;

/** Drops the databases of this run that `which` selects by the process that created them; null: a template. */
export async function dropDatabases(
  url: string,
  which: (pid: number | null) => boolean,
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      "select datname as name from pg_database where starts_with(datname, $1)",
      [PREFIX],
    );
    for (const { name } of rows) {
      const pid = /^p(\d+)_/.exec(name.slice(PREFIX.length))?.[1];
      if (!which(pid === undefined ? null : Number(pid))) continue;
      await client.query(`drop database if exists "${name}" with (force)`);
    }
  } finally {
    await client.end();
  }
}
