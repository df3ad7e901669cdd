// The local queue: the modes that it reports, the return of unstarted jobs to the database, and the refetch delay.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LocalQueueOptions } from "../../src/worker/options/local-queue-options.ts";
import { runOnce } from "../../src/worker/run.ts";
import type { Hooks, Plugin, WorkerEvents } from "../../src/worker/task/hooks.ts";
import { latch, recordingTask, waitFor, waitUntil, witness, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();
const HOUR_MS = 3_600_000;

const addMany = (identifier: string, count: number, spec = {}) =>
  queue.utils.addJobs(Array.from({ length: count }, () => ({ identifier, spec })));

/** Returns a task whose jobs run until `open` is called. */
function blockingTask() {
  const gate = latch();
  return { task: recordingTask("held", () => gate.opened), open: gate.open };
}

const modes = (events: readonly WorkerEvents["localQueue:setMode"][]) =>
  events.map(({ oldMode, newMode }) => `${oldMode} → ${newMode}`);

async function locked() {
  const left = await queue.remaining();
  return {
    count: left.filter(({ locked_by }) => locked_by !== null).length,
    attempts: left.map(({ attempts }) => attempts),
  };
}

describe("The local queue", () => {
  test("has the mode `polling` while it is empty, `waiting` while it has jobs, and `released` after the stop.", async () => {
    const saw = witness("localQueue:setMode");
    const task = recordingTask("quick");
    await queue.utils.addJob("quick");
    const worker = await queue.startWorker({ tasks: [task], concurrency: 1, plugins: [saw] });
    await waitUntil("the job is done", async () => (await queue.remaining()).length === 0);
    await worker.stop();
    assert.deepEqual(modes(saw.all("localQueue:setMode")), [
      "starting → polling",
      "polling → waiting",
      "waiting → polling",
      "polling → released",
    ]);
    const ids = new Set(saw.all("localQueue:setMode").map(({ workerId }) => workerId));
    assert.deepEqual([...ids], [worker.id]);
  });

  test("returns jobs that have waited for `ttlMs`, without counting an attempt, and then fetches no jobs until a slot is free.", async () => {
    const { task, open } = blockingTask();
    await addMany("held", 5);
    const saw = witness("localQueue:setMode", "localQueue:returnJobs", "job:fetch");
    const worker = await queue.startWorker({
      tasks: [task],
      concurrency: 1,
      connections: 1,
      localQueue: { size: 20, adaptive: false, ttlMs: 60 },
      plugins: [saw],
    });
    assert.deepEqual(await saw.saw("localQueue:returnJobs"), { workerId: worker.id, count: 4 });
    await waitUntil("the unstarted jobs are returned", async () => (await locked()).count === 1);
    assert.deepEqual((await locked()).attempts.toSorted(), [0, 0, 0, 0, 1]);
    const before = saw.all("job:fetch").length;
    await queue.utils.addJob("held");
    const other = recordingTask("held");
    const helper = await queue.startWorker({ tasks: [other] });
    await waitUntil("another worker has run the 5 unstarted jobs", () => other.seen.length === 5);
    await helper.stop();
    assert.equal(saw.all("job:fetch").length, before);
    open();
    await waitUntil(
      "the first job is done, too",
      async () => (await queue.remaining()).length === 0,
    );
    await queue.utils.addJob("held");
    await waitUntil("a new job runs in the slot", () => task.seen.length === 2);
    assert.deepEqual(modes(saw.all("localQueue:setMode")).slice(0, 4), [
      "starting → polling",
      "polling → waiting",
      "waiting → ttl_expired",
      "ttl_expired → polling",
    ]);
  });

  test("unlocks a named queue when it returns the queue's jobs.", async () => {
    const { task } = blockingTask();
    const saw = witness("localQueue:returnJobs");
    await queue.utils.addJob("held");
    await queue.startWorker({
      tasks: [task, recordingTask("queued")],
      concurrency: 1,
      localQueue: { size: 20, adaptive: false, ttlMs: 60 },
      plugins: [saw],
    });
    await waitUntil("the worker's only slot is taken", () => task.seen.length === 1);
    await addMany("queued", 3, { queueName: "q" });
    // While the duration of a task's jobs is unknown, a fetch gets only one job of a named queue.
    assert.equal((await saw.saw("localQueue:returnJobs")).count, 1);
    const free = recordingTask("queued");
    await queue.startWorker({ tasks: [free], pollIntervalMs: 50 });
    await waitUntil("another worker runs the queue's jobs", () => free.seen.length === 3);
  });

  test("fetches slow jobs only when a slot is free, even if many jobs are ready.", async () => {
    const { task, open } = blockingTask();
    await addMany("held", 50);
    const worker = await queue.startWorker({ tasks: [task], concurrency: 2 });
    await waitUntil("two jobs run", () => task.seen.length === 2);
    await addMany("held", 5);
    await queue.startWorker({ tasks: [recordingTask("other")] });
    assert.equal((await locked()).count, 2);
    const stopped = worker.stop();
    open();
    await waitFor("the worker stops", stopped);
  });

  test("without `adaptive`, is filled up to its size, until jobs that did not start in time were returned.", async () => {
    const { task } = blockingTask();
    await addMany("held", 50);
    const saw = witness("localQueue:returnJobs", "job:fetch");
    await queue.startWorker({
      tasks: [task],
      concurrency: 3,
      connections: 1,
      localQueue: { size: 10, adaptive: false, ttlMs: HOUR_MS },
      plugins: [saw],
    });
    const { count } = await saw.saw("localQueue:returnJobs");
    assert.ok(count <= 10 && count >= 5, `${count} jobs were returned`);
    await waitUntil("only running jobs are locked", async () => (await locked()).count === 3);
    const before = saw.all("job:fetch").length;
    await queue.utils.addJob("held");
    await queue.startWorker({ tasks: [recordingTask("other")] });
    assert.equal((await locked()).count, 3);
    assert.equal(saw.all("job:fetch").length, before);
  });
});

/** Returns a plugin that records fetches and the events of the refetch delay, in order. */
function notes(): Plugin & { readonly order: string[] } {
  const order: string[] = [];
  return {
    name: "notes",
    order,
    register(hooks: Hooks) {
      hooks.on("localQueue:getJobs:complete", ({ count }) => void order.push(`fetched ${count}`));
      hooks.on("localQueue:refetchDelay:start", () => void order.push("pause"));
      hooks.on("localQueue:refetchDelay:abort", () => void order.push("abort"));
      hooks.on("localQueue:refetchDelay:expired", () => void order.push("expired"));
    },
  };
}

describe("The refetch delay", () => {
  const pausing = (refetchDelay: NonNullable<LocalQueueOptions["refetchDelay"]>) => ({
    localQueue: { size: 10, refetchDelay },
    pollIntervalMs: HOUR_MS,
    connections: 1,
  });
  const never = { maxAbortThreshold: 1_000_000 };

  test("delays the next fetch until it has ended.", async () => {
    const task = recordingTask("task");
    const saw = witness("localQueue:refetchDelay:start", "localQueue:refetchDelay:expired");
    const { order, ...noted } = notes();
    const options = pausing({ durationMs: 300, ...never });
    const worker = await queue.startWorker({ tasks: [task], ...options, plugins: [saw, noted] });
    const workerId = worker.id;
    const delays = await saw.saw("localQueue:refetchDelay:start");
    assert.deepEqual(delays, { workerId, durationMs: 300 });
    await queue.utils.addJob("task");
    await waitUntil("the job has run", () => task.seen.length === 1);
    assert.deepEqual(await saw.saw("localQueue:refetchDelay:expired"), { workerId });
    assert.deepEqual(order.slice(0, 3), ["fetched 0", "pause", "expired"]);
  });

  test("ends early when enough jobs are announced.", async () => {
    const task = recordingTask("task");
    const saw = witness("localQueue:refetchDelay:start", "localQueue:refetchDelay:abort");
    const options = pausing({ durationMs: HOUR_MS, maxAbortThreshold: 3 });
    const worker = await queue.startWorker({ tasks: [task], ...options, plugins: [saw] });
    await saw.saw("localQueue:refetchDelay:start");
    await addMany("task", 3);
    assert.deepEqual(await saw.saw("localQueue:refetchDelay:abort"), {
      workerId: worker.id,
      count: 3,
    });
    await waitUntil("the announced jobs have run", () => task.seen.length === 3);
  });

  test("does not end early when fewer jobs are announced.", async () => {
    const task = recordingTask("task");
    const { order, ...noted } = notes();
    const saw = witness("localQueue:refetchDelay:start");
    const options = pausing({ durationMs: HOUR_MS, ...never });
    await queue.startWorker({ tasks: [task], ...options, plugins: [noted, saw] });
    await saw.saw("localQueue:refetchDelay:start");
    await addMany("task", 2);
    // While another worker starts and runs the jobs, the first worker has time to receive the announcement.
    const other = recordingTask("task");
    await queue.startWorker({ tasks: [other] });
    await waitUntil("another worker has run the jobs", () => other.seen.length === 2);
    assert.deepEqual(order, ["fetched 0", "pause"]);
  });

  for (const [count, title, expected] of [
    [2, "starts after a fetch of fewer jobs than its threshold", ["fetched 2", "pause"]],
    [3, "does not start after a fetch of as many jobs as its threshold", ["fetched 3"]],
  ] as const) {
    test(`${title}.`, async () => {
      const task = recordingTask("task");
      await addMany("task", count);
      const { order, ...noted } = notes();
      const options = pausing({ durationMs: HOUR_MS, threshold: 3, ...never });
      const worker = await queue.startWorker({ tasks: [task], ...options, plugins: [noted] });
      await waitUntil("the jobs have run", () => task.seen.length === count);
      await worker.stop();
      assert.deepEqual(order, expected);
    });
  }

  test("does not start once the worker stops.", async () => {
    const { order, ...noted } = notes();
    const options = pausing({ durationMs: HOUR_MS, ...never });
    const worker = await queue.startWorker({
      tasks: [recordingTask("task")],
      ...options,
      plugins: [noted],
    });
    // The answer to the first fetch has not arrived yet. Without the stop, this answer would start a delay.
    await worker.stop();
    assert.deepEqual(order, ["fetched 0"]);
  });

  test("does not prevent runOnce from running a job that another job adds.", async () => {
    const child = recordingTask("child");
    const parent = recordingTask("parent", () => queue.utils.addJob("child"));
    await queue.utils.addJob("parent");
    const localQueue = { refetchDelay: { durationMs: 100, ...never } };
    const options = { connectionString: queue.url, recovery: false, localQueue } as const;
    await waitFor("runOnce() ends", runOnce({ ...options, tasks: [parent, child] }));
    assert.equal(child.seen.length, 1);
  });
});
