// Tests the following case. PostgreSQL has written the result of an attempt, but the network has lost the answer, and
// the same worker has already locked the job for its next attempt. The worker must not send the result again, because
// the result would be applied to the next attempt.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fixed } from "../../src/worker/task/retry.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import {
  latch,
  recordingTask,
  untilQuiet,
  waitUntil,
  witness,
  workerQueue,
} from "./worker-queue.ts";

const queue = workerQueue();

test("A result whose answer was lost does not change the next attempt of its job.", async (t) => {
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
  await waitUntil(
    "the job is locked by locked_by",
    async () => (await job())?.locked_by === worker.id,
  );
  await untilQuiet(queue);
  safe.mute("established", "answers");
  first.open();
  await waitUntil(
    "the failure of the first attempt is written",
    async () => (await job())?.last_error != null,
  );
  await queue.utils.addJob("other"); // the announcement of this job wakes the fast lane
  await waitUntil("the fast lane runs the job again", () => attempts.length === 2);
  await waitUntil(
    "the job is locked by locked_by again",
    async () => (await job())?.locked_by === worker.id,
  );
  safe.reset();
  await watch.saw("worker:reconnected");
  assert.equal((await job())?.locked_by, worker.id);
  second.open();
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
  assert.deepEqual(attempts, [1, 2]);
  const ends = () => watch.all("job:complete").filter(({ job }) => job.id === id);
  await waitUntil("the ends of both attempts are reported", () => ends().length === 2);
  assert.deepEqual(
    ends().map(({ result }) => result),
    ["unknown", "completed"],
  );
});

test("If the answers to the write of a failure and to the next fetch of the same job are lost, the failure does not end the job's next attempt.", async (t) => {
  const proxy = await tcpProxy(queue.url);
  t.after(() => proxy.close());
  const safe = proxy.of("worker connection");
  const first = latch();
  const attempts: number[] = [];
  const task = defineTask("task", async (_, { job }) => {
    attempts.push(job.attempts);
    if (attempts.length > 1) return;
    await first.opened;
    throw new Error("as expected");
  });
  const watch = witness("job:complete", "worker:reconnected");
  const { id } = await queue.utils.addJob("task", {}, { maxAttempts: 2 });
  // Because other jobs are ready, the failure and the next fetch are sent together.
  for (let n = 0; n < 50; n++) await queue.utils.addJob("other", {}, { priority: 1 });
  const worker = await queue.startWorker({
    ...{ connectionString: proxy.url, tasks: [task, recordingTask("other")], plugins: [watch] },
    ...{ connections: 1, concurrency: 1, pollIntervalMs: 60_000, retry: fixed(0) },
  });
  const job = async () => (await queue.remaining()).find((one) => one.id === id);
  await waitUntil("the first attempt has started", () => attempts.length === 1);
  await untilQuiet(queue);
  safe.mute("established", "answers");
  first.open();
  await waitUntil(
    "the failure of the first attempt is written",
    async () => (await job())?.last_error != null,
  );
  await waitUntil("the job is fetched again", async () => {
    const one = await job();
    return one?.attempts === 2 && one.locked_by === worker.id;
  });
  safe.reset();
  const ends = () => watch.all("job:complete").filter(({ job }) => job.id === id);
  await waitUntil("the ends of both attempts are reported", () => ends().length === 2);
  assert.deepEqual(attempts, [1, 2]);
  assert.deepEqual(
    ends().map(({ result }) => result),
    ["unknown", "completed"],
  );
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
});
