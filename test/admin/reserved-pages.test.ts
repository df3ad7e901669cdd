// Before a request for a page of whole rows reads anything, it reserves the memory that the largest possible page
// needs. If there is not enough memory for two such requests, the second one waits. If the first one does not end in
// time, the answer to the second one is 503.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lockWaits } from "../support/lock-waits.ts";
import { waitUntil } from "../support/until.ts";
import { migratedDatabase, startAdmin } from "./admin-harness.ts";

const { url } = await migratedDatabase("worker", ["schedules", "operations"]);

// Each page of this test reserves 32 MB. For unfinished pages, one client may reserve at most half of
// `unreadBytesInAll`: here 48 MB, which is too little for two pages.
test("While a page of whole rows is read, the answer to a request for another page is 503 if there is not enough memory for both.", async () => {
  const { client, pool } = await startAdmin({
    url,
    limits: { unreadBytesInAll: 96 * 1_048_576, memoryWaitMs: 50 },
  });
  const schedule = { action: "add", identifier: "nightly", task: "t", pattern: "0 3 * * *" };
  assert.equal((await client.post("/api/schedules", schedule)).status, 200);
  for (const path of [
    "/api/activity",
    "/api/operations",
    "/api/cron-entry?name=nightly",
    "/api/cron",
    "/api/tasks",
    "/api/workers",
  ]) {
    const blocker = await pool.connect();
    await blocker.query("begin; lock table worker._private_audit in access exclusive mode");
    const first = client.get("/api/activity");
    try {
      await waitUntil(
        "the first request waits for the locked table",
        async () => (await lockWaits(blocker)) > 0,
      );
      const { status, body } = await client.get(path);
      assert.deepEqual([status, body.code], [503, "busy"], path);
    } finally {
      await blocker.query("rollback");
      blocker.release();
    }
    assert.equal((await first).status, 200, path);
    assert.equal((await client.get(path)).status, 200, path);
  }
});
