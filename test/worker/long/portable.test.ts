// Tests portable(), which copies the settings of a pool for the heartbeat thread.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../src/base/logger.ts";
import { createPool } from "../../../src/database/connection/pool.ts";
import { connectionOf, portable } from "../../../src/worker/connection/connection-config.ts";

test("The settings of a pool of createPool() can be sent to the heartbeat thread.", async () => {
  const connectionString = "postgres://user@localhost/db";
  const pool = createPool({ connectionString, logger: silentLogger });
  const given = portable(connectionOf(pool));
  assert.equal(given?.config.server?.hosts[0]?.host, "localhost");
  assert.equal("Client" in (given?.config ?? {}), false);
  await pool.end();
});
