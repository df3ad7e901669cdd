// What of a pool's settings can be handed to the heartbeat's thread.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { createPool } from "../../src/database/connection/pool.ts";
import { connectionOf, portable } from "../../src/worker/connection/connection-config.ts";
import { resolveWorkerOptions } from "../../src/worker/options/worker-options.ts";
import { defineTask } from "../../src/worker/task/task.ts";

test("A pool of ours, lent to a worker, keeps its heartbeat in a thread of its own.", async () => {
  const connectionString = "postgres://user@localhost/db";
  const pool = createPool({ connectionString, logger: silentLogger });
  const config = resolveWorkerOptions({ pool, tasks: [defineTask("t", async () => {})] });
  const given = portable(connectionOf(config, pool));
  assert.equal(given?.config.connectionString, connectionString);
  assert.equal("Client" in (given?.config ?? {}), false);
  await pool.end();
});
