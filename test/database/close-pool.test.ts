// After closePool(), pg_stat_activity has no connection of the pool.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { silentLogger } from "../../src/base/logger.ts";
import { closePool, createPool } from "../../src/database/connection/pool.ts";
import { emptyDatabase } from "../support/database.ts";

const applicationName = "worker that closes its pool";

test("When closePool() resolves, PostgreSQL has ended every connection of the pool.", async (t) => {
  const { url } = await emptyDatabase();
  const watcher = new pg.Client(url);
  await watcher.connect();
  t.after(() => watcher.end());
  for (let n = 0; n < 20; n++) {
    const pool = createPool({ connectionString: url, applicationName, logger: silentLogger });
    await Promise.all([1, 2, 3, 4, 5].map(() => pool.query("select pg_sleep(0.001)")));
    await closePool(pool, 10_000);
    const { rows } = await watcher.query(
      "select count(*)::int as count from pg_stat_activity where application_name = $1",
      [applicationName],
    );
    assert.equal(rows[0].count, 0);
  }
});
