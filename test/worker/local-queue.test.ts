// The local queue: its modes, what it gives back, and the pause after a fetch that found little.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LocalQueueOptions } from "../../src/worker/options/local-queue-options.ts";
import { runOnce } from "../../src/worker/run.ts";
import type { Hooks, Plugin, WorkerEvents } from "../../src/worker/task/hooks.ts";
import { latch, recording, until, within, witness, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();
const HOUR_MS = 3_600_000;

const addMany = (identifier: string, count: number, spec = {}) =>
  queue.utils.addJobs(Array.from({ length: count }, () => ({ identifier, spec })));

/** A task that waits for the latch. */
function held() {
  const gate = latch();
  return { task: recording("held", () => gate.opened), open: gate.open };
}

const modes = (events: readonly WorkerEvents["localQueue:setMode"][]) =>
  events.map(({ oldMode, newMode }) => `${oldMode} → ${newMode}`);

/** Locked jobs, and the attempts of all. */
async function locked() {
  const left = await queue.left();
  return {
    count: left.filter(({ locked_by }) => locked_by !== null).length,
    attempts: left.map(({ attempts }) => attempts),
  };
}

describe("The local queue", () => {
  test("polls while it is empty, waits while jobs wait in it, and is released at the end.", async () => {
    const saw = witness("localQueue:setMode");
    const task = recording("quick");
    await queue.utils.addJob("quick");
    const worker = await queue.started({ tasks: [task], concurrency: 1, plugins: [saw] });
    await until("the job is done", async () => (await queue.left()).length === 0);
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

  test("gives back what has waited for its ttl, attempts unchanged, and takes no more until a slot asks.", async () => {
    const { task, open } = held();
    await addMany("held", 5);
    const saw = witness("localQueue:setMode", "localQueue:returnJobs", "job:fetch");
    const worker = await queue.started({
      tasks: [task],
      concurrency: 1,
      connections: 1,
      localQueue: { size: 20, adaptive: false, ttlMs: 60 },
      plugins: [saw],
    });
    assert.deepEqual(await saw.saw("localQueue:returnJobs"), { workerId: worker.id, count: 4 });
    await until("they are given back", async () => (await locked()).count === 1);
    assert.deepEqual((await locked()).attempts.toSorted(), [0, 0, 0, 0, 1]);
    const before = saw.all("job:fetch").length;
    await queue.utils.addJob("held");
    const other = recording("held");
    const helper = await queue.started({ tasks: [other] });
    await until("another worker has done them", () => other.seen.length === 5);
    await helper.stop();
    assert.equal(saw.all("job:fetch").length, before);
    open();
    await until("the first one is done, too", async () => (await queue.left()).length === 0);
    await queue.utils.addJob("held");
    await until("the slot takes new ones", () => task.seen.length === 2);
    assert.deepEqual(modes(saw.all("localQueue:setMode")).slice(0, 4), [
      "starting → polling",
      "polling → waiting",
      "waiting → ttl_expired",
      "ttl_expired → polling",
    ]);
  });

  test("lets a named queue go with the run that it gives back.", async () => {
    const { task } = held();
    const saw = witness("localQueue:returnJobs");
    await queue.utils.addJob("held");
    await queue.started({
      tasks: [task, recording("queued")],
      concurrency: 1,
      localQueue: { size: 20, adaptive: false, ttlMs: 60 },
      plugins: [saw],
    });
    await until("its only slot is taken", () => task.seen.length === 1);
    await addMany("queued", 3, { queueName: "q" });
    // Of a task that has not run yet one job is fetched alone.
    assert.equal((await saw.saw("localQueue:returnJobs")).count, 1);
    const free = recording("queued");
    await queue.started({ tasks: [free], pollIntervalMs: 50 });
    await until("the queue's jobs run elsewhere", () => free.seen.length === 3);
  });

  test("leaves slow jobs to others, however many are ready.", async () => {
    const { task, open } = held();
    await addMany("held", 50);
    const worker = await queue.started({ tasks: [task], concurrency: 2 });
    await until("two run", () => task.seen.length === 2);
    await addMany("held", 5);
    await queue.started({ tasks: [recording("other")] });
    assert.equal((await locked()).count, 2);
    const stopped = worker.stop();
    open();
    await within("the stop", stopped);
  });

  test("that is not adaptive fetches ahead up to its size, until that goes back unstarted.", async () => {
    const { task } = held();
    await addMany("held", 50);
    const saw = witness("localQueue:returnJobs", "job:fetch");
    await queue.started({
      tasks: [task],
      concurrency: 3,
      connections: 1,
      localQueue: { size: 10, adaptive: false, ttlMs: HOUR_MS },
      plugins: [saw],
    });
    const { count } = await saw.saw("localQueue:returnJobs");
    assert.ok(count <= 10 && count >= 5, `${count} went back`);
    await until("only what runs is locked", async () => (await locked()).count === 3);
    const before = saw.all("job:fetch").length;
    await queue.utils.addJob("held");
    await queue.started({ tasks: [recording("other")] });
    assert.equal((await locked()).count, 3);
    assert.equal(saw.all("job:fetch").length, before);
  });
});

/** Notes what happens around the pause, in order. */
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

describe("The pause after a fetch that found little", () => {
  const pausing = (refetchDelay: NonNullable<LocalQueueOptions["refetchDelay"]>) => ({
    localQueue: { size: 10, refetchDelay },
    pollIntervalMs: HOUR_MS,
    connections: 1,
  });
  const never = { maxAbortThreshold: 1_000_000 };

  test("holds the next fetch back until it is over.", async () => {
    const task = recording("task");
    const saw = witness("localQueue:refetchDelay:start", "localQueue:refetchDelay:expired");
    const { order, ...noted } = notes();
    const options = pausing({ durationMs: 300, ...never });
    const worker = await queue.started({ tasks: [task], ...options, plugins: [saw, noted] });
    const workerId = worker.id;
    const told = await saw.saw("localQueue:refetchDelay:start");
    assert.deepEqual(told, { workerId, durationMs: 300 });
    await queue.utils.addJob("task");
    await until("it has run", () => task.seen.length === 1);
    assert.deepEqual(await saw.saw("localQueue:refetchDelay:expired"), { workerId });
    assert.deepEqual(order.slice(0, 3), ["fetched 0", "pause", "expired"]);
  });

  test("ends early when as many jobs are announced as it asks for.", async () => {
    const task = recording("task");
    const saw = witness("localQueue:refetchDelay:start", "localQueue:refetchDelay:abort");
    const options = pausing({ durationMs: HOUR_MS, maxAbortThreshold: 3 });
    const worker = await queue.started({ tasks: [task], ...options, plugins: [saw] });
    await saw.saw("localQueue:refetchDelay:start");
    await addMany("task", 3);
    assert.deepEqual(await saw.saw("localQueue:refetchDelay:abort"), {
      workerId: worker.id,
      count: 3,
    });
    await until("they have run", () => task.seen.length === 3);
  });

  test("does not end for fewer.", async () => {
    const task = recording("task");
    const { order, ...noted } = notes();
    const saw = witness("localQueue:refetchDelay:start");
    const options = pausing({ durationMs: HOUR_MS, ...never });
    await queue.started({ tasks: [task], ...options, plugins: [noted, saw] });
    await saw.saw("localQueue:refetchDelay:start");
    await addMany("task", 2);
    // Another worker hears of these jobs, too: then the first one has.
    const other = recording("task");
    await queue.started({ tasks: [other] });
    await until("they have run elsewhere", () => other.seen.length === 2);
    assert.deepEqual(order, ["fetched 0", "pause"]);
  });

  for (const [count, title, expected] of [
    [2, "comes after fewer jobs than its threshold", ["fetched 2", "pause"]],
    [3, "does not come after as many", ["fetched 3"]],
  ] as const) {
    test(`${title}.`, async () => {
      const task = recording("task");
      await addMany("task", count);
      const { order, ...noted } = notes();
      const options = pausing({ durationMs: HOUR_MS, threshold: 3, ...never });
      const worker = await queue.started({ tasks: [task], ...options, plugins: [noted] });
      await until("the jobs have run", () => task.seen.length === count);
      await worker.stop();
      assert.deepEqual(order, expected);
    });
  }

  test("does not begin any more once the worker stops.", async () => {
    const { order, ...noted } = notes();
    const options = pausing({ durationMs: HOUR_MS, ...never });
    const worker = await queue.started({
      tasks: [recording("task")],
      ...options,
      plugins: [noted],
    });
    // The first fetch is under way.
    await worker.stop();
    assert.deepEqual(order, ["fetched 0"]);
  });

  test("does not keep runOnce from what its jobs add.", async () => {
    const child = recording("child");
    const parent = recording("parent", () => queue.utils.addJob("child"));
    await queue.utils.addJob("parent");
    const localQueue = { refetchDelay: { durationMs: 100, ...never } };
    const options = { connectionString: queue.url, recovery: false, localQueue } as const;
    await within("runOnce", runOnce({ ...options, tasks: [parent, child] }));
    assert.equal(child.seen.length, 1);
  });
});
