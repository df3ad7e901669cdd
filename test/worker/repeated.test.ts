// A result that PostgreSQL has written and whose answer the network has lost. It is sent again after the next attempt
// of the job has begun in the same worker.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fixed } from "../../src/worker/task/retry.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { latch, recordingTask, waitUntil, witness, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

test("A result that is sent again does not change the next attempt.", async (t) => {
  const proxy = await tcpProxy(queue.url);
  t.after(() => proxy.close());
  const safe = proxy.of("worker connection");
  const [first, second] = [latch(), latch()];
  const attempts: number[] = [];
  const task = defineTask("task", async (_, { job }) => {
    attempts.push(job.attempts);
    if (attempts.length > 1) return second.opened;
    await first.opened;
    throw new Error("as expected");
  });
  const watch = witness("job:complete", "worker:reconnected");
  const worker = await queue.startWorker({
    ...{
      connectionString: proxy.url,
      tasks: [task, recordingTask("other")],
      plugins: [watch],
      retry: fixed(0),
    },
    ...{ connections: 1, pollIntervalMs: 60_000, fastLane: { limitMs: 50 } },
  });
  const { id } = await queue.utils.addJob("task");
  const job = async () => (await queue.remaining()).find((one) => one.id === id);
  await waitUntil("the job is kept", async () => (await job())?.locked_by === worker.id);
  safe.mute("established", "answers");
  first.open();
  await waitUntil("its failure is written", async () => (await job())?.last_error != null);
  await queue.utils.addJob("other"); // its announcement wakes the lane
  await waitUntil("a lane runs it again", () => attempts.length === 2);
  await waitUntil("the lane keeps it", async () => (await job())?.locked_by === worker.id);
  safe.reset();
  await watch.saw("worker:reconnected");
  assert.equal((await job())?.locked_by, worker.id);
  second.open();
  await waitUntil("it is done", async () => (await queue.remaining()).length === 0);
  assert.deepEqual(attempts, [1, 2]);
  const ends = () => watch.all("job:complete").filter(({ job }) => job.id === id);
  await waitUntil("both ends are reported", () => ends().length === 2);
  assert.deepEqual(
    ends().map(({ result }) => result),
    ["unknown", "completed"],
  );
});
