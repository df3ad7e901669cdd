// A job that has ended while somebody's open transaction has its row locked, as an application's has
// that has added a job with the same key.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { latch, recording, until, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

test("Other jobs run while the end of one cannot be written.", async (t) => {
  const gate = latch();
  const held = recording("held", () => gate.opened);
  const quick = recording("quick");
  await queue.started({ tasks: [held, quick], pollIntervalMs: 50 });
  await queue.utils.addJob("held", {}, { jobKey: "one" });
  await until("it runs", () => held.seen.length === 1);
  const client = new pg.Client(queue.url);
  await client.connect();
  t.after(() => client.end());
  await client.query("begin; select worker.add_job('quick', job_key := 'one')");
  gate.open();
  // Long enough for a statement that waits to be given up.
  const end = performance.now() + 12_000;
  for (let n = 1; performance.now() < end; n++) {
    await queue.utils.addJob("quick");
    await until("another one runs", () => quick.seen.length === n, 6_000);
  }
  assert.equal(held.seen.length, 1);
  await client.query("rollback");
  await until("all is written", async () => (await queue.left()).length === 0);
});
