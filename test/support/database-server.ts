// The settings of the PostgreSQL server for test databases, the prefix of the names of the databases that one run of
// the tests creates, and the removal of these databases.
import pg from "pg";

/** PostgreSQL does not wait for the disk: test data need not survive a crash of the machine. */
export const TEST_SETTINGS = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "200",
  shared_buffers: "64MB",
};

/**
 * The prefix of the names of this run's databases. test/run.mjs passes its process id to the test files as TEST_RUN. A
 * test file that was started without test/run.mjs uses its own process id.
 */
export const PREFIX = `worker_test_${process.env["TEST_RUN"] ?? `alone${process.pid}`}_`;

/**
 * Drops the databases of this run that `which` selects. `pid`: the id of the process that created the database; null
 * for a template of databaseLike().
 */
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
