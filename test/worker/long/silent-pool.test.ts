// Tests a worker after the open connections of its pool have stopped passing data without being closed. The worker's
// other connections still work, and new connections can be opened.
import assert from "node:assert/strict";
import { test } from "node:test";
import { migratedDatabase } from "../../support/database.ts";
import { tcpProxy } from "../../support/tcp-proxy.ts";
import { latch, recordingTask, waitFor, waitUntil, workerQueue } from "../worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["limits"]));

test("If the pool's open connections stop passing data, jobs under a limit get their permits within 10 s.", async (t) => {
  const proxy = await tcpProxy(queue.url);
  t.after(() => proxy.close());
  const limit = { name: "api", task: "call" };
  await queue.utils.setLimit({ ...limit, concurrency: 1 });
  const both = latch();
  const task = recordingTask("call", (_, call) => {
    if (call === 3) both.open();
    return call === 1 ? undefined : both.opened;
  });
  await queue.startWorker({
    ...{ connectionString: proxy.url, tasks: [task] },
    recovery: { heartbeatIntervalMs: 500, thresholdMs: 30_000 },
  });
  await queue.utils.addJob("call");
  await waitUntil("the first job has run", () => task.seen.length === 1);
  const pool = proxy.of("worker");
  assert.ok(pool.open > 0);
  pool.mute("established");
  const mutedMs = performance.now();
  await queue.utils.setLimit({ ...limit, concurrency: 2 });
  await queue.utils.addJobs([{ identifier: "call" }, { identifier: "call" }]);
  await waitFor("two jobs run at once", both.opened);
  const ms = performance.now() - mutedMs;
  assert.ok(ms < 10_000, `the two jobs run after ${ms} ms`);
});
