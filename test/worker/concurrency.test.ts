// Tests setConcurrency(), which changes a worker's number of slots.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { defineTask } from "../../src/worker/task/task.ts";
import { QUICK } from "./worker-process.ts";
import { latch, type WorkerQueue, waitUntil, witness, workerQueue } from "./worker-queue.ts";

const queue: WorkerQueue = workerQueue();

/** Returns a task whose jobs run until release() ends them. release(n) ends the n jobs that have run longest. */
function held(identifier = "held") {
  const running: { release(): void; readonly signal: AbortSignal }[] = [];
  const counts: number[] = [];
  const task = defineTask(identifier, async (_payload, { signal }) => {
    const { opened, open } = latch();
    const own = { signal, release: open };
    running.push(own);
    counts.push(running.length);
    await opened;
    running.splice(running.indexOf(own), 1);
  });
  const release = (count: number) => {
    for (const one of running.slice(0, count)) one.release();
  };
  /** `counts`: at each start of a job, the number of running jobs, including the new one. */
  return { task, running, counts, release };
}

const add = (count: number, identifier = "held", spec = {}) =>
  queue.utils.addJobs(Array.from({ length: count }, () => ({ identifier, spec })));

/** Options of a worker that does not poll within a test. */
const ASLEEP = { pollIntervalMs: 60_000 };

for (const [mode, options] of [
  ["safe mode", {}],
  ["safe mode that fetches far ahead", { localQueue: { adaptive: false } }],
  ["fast lane", { fastLane: true }],
] as const) {
  test(`If the number of slots is raised, more jobs start immediately (${mode}).`, async () => {
    const { task, running, release } = held();
    await add(20);
    const worker = await queue.startWorker({
      tasks: [task],
      concurrency: 2,
      ...ASLEEP,
      ...options,
    });
    await waitUntil("two jobs run", () => running.length === 2);
    worker.setConcurrency(12);
    await waitUntil("twelve jobs run", () => running.length === 12);
    release(12);
    await waitUntil("the other eight jobs run", () => running.length === 8);
    release(8);
    await worker.drain();
  });

  test(`If the number of slots is reduced, running jobs are not aborted, and no job starts before enough of them have ended (${mode}).`, async () => {
    const { task, running, counts, release } = held();
    await add(30);
    const ended = witness("job:complete");
    const worker = await queue.startWorker({
      ...{ tasks: [task], concurrency: 10, plugins: [ended], ...ASLEEP, ...options },
    });
    await waitUntil("ten jobs run", () => running.length === 10);
    worker.setConcurrency(3);
    const before = counts.length;
    release(7);
    await ended.saw("job:complete", 7);
    assert.equal(counts.length, before, "no job has started in the slots of the ended jobs");
    assert.equal(
      running.some(({ signal }) => signal.aborted),
      false,
    );
    const done = worker.drain();
    for (let left = 23; left > 0; left--) {
      await waitUntil(
        "three jobs run, or all jobs that are left",
        () => running.length === Math.min(3, left),
      );
      release(1);
    }
    await done;
    assert.equal(Math.max(...counts.slice(before)), 3);
    assert.equal(counts.length, 30, "each job has started once");
    assert.deepEqual(await queue.remaining(), []);
  });

  test(`If the number of slots is reduced, jobs that were already fetched run only in the new number of slots (${mode}).`, async () => {
    let running = 0;
    let most = 0;
    let started = 0;
    const short = defineTask("short", async () => {
      running++;
      if (++started === 1_000) worker.setConcurrency(2);
      else if (started > 1_000) most = Math.max(most, running);
      await setTimeout(1);
      running--;
    });
    await add(3_000, "short");
    const worker = queue.worker({ tasks: [short], concurrency: 20, ...options });
    await worker.drain();
    assert.equal(started, 3_000);
    assert.equal(most, 2);
  });

  test(`A task can change the number of slots, and the number can change while no job is ready (${mode}).`, async () => {
    const { task, running, release } = held();
    let isWide = false;
    const wide = defineTask("wide", () => {
      worker.setConcurrency(5);
      isWide = true;
    });
    const worker = await queue.startWorker({
      ...{ tasks: [task, wide], concurrency: 1, ...options },
    });
    await worker.drain();
    worker.setConcurrency(2);
    worker.setConcurrency(1);
    await add(1, "wide");
    // The held jobs are added after `wide` has run. Without this order, a fast lane could fetch `wide` and held jobs at
    // the same time, on two connections. If a held job started first, it would keep the only slot.
    await waitUntil("the number of slots has changed", () => isWide);
    await add(9);
    await waitUntil("five jobs run", () => running.length === 5);
    release(5);
    await waitUntil("the other four jobs run", () => running.length === 4);
    release(4);
    await worker.drain();
  });
}

test("If slots are removed, fetched jobs that waited for these slots are given back at once.", async () => {
  const back = witness("localQueue:returnJobs");
  const seen: number[] = [];
  const narrow = defineTask<{ n: number }>("narrow", async ({ n }, { signal }) => {
    if (seen.push(n) === 5) {
      worker.setConcurrency(1);
      assert.ok((back.all("localQueue:returnJobs")[0]?.count ?? 0) >= 90);
    }
    if (seen.length > 5) return;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  await queue.utils.addJobs(
    Array.from({ length: 200 }, (_, n) => ({ identifier: "narrow", payload: { n } })),
  );
  const worker = queue.worker({
    ...{ tasks: [narrow], concurrency: 5, plugins: [back], ...ASLEEP },
    localQueue: { adaptive: false, size: 200 },
  });
  await worker.start();
  await waitUntil("only the five running jobs are locked", async () => {
    const rows = await queue.remaining();
    return rows.filter(({ locked_by }) => locked_by !== null).length === 5;
  });
  assert.equal(seen.length, 5);
});

test("The jobs of named queues stay in order while the number of slots changes.", async () => {
  const seen = new Map<string, number[]>();
  const busy = new Set<string>();
  let worker: Awaited<ReturnType<typeof queue.startWorker>>;
  const queued = defineTask<{ q: string; n: number }>("queued", async ({ q, n }) => {
    assert.ok(!busy.has(q), "the jobs of a named queue run one at a time");
    busy.add(q);
    const list = seen.get(q) ?? [];
    seen.set(q, list);
    if (list.push(n) % 10 === 0) worker.setConcurrency((n % 4) + 1);
    await new Promise(setImmediate);
    busy.delete(q);
  });
  const names = ["a", "b", "c", "d"];
  await queue.utils.addJobs(
    Array.from({ length: 60 }, (_, n) => n).flatMap((n) =>
      names.map((q) => ({ identifier: "queued", payload: { q, n }, spec: { queueName: q } })),
    ),
  );
  worker = queue.worker({ tasks: [queued], concurrency: 4 });
  await worker.drain();
  const order = Array.from({ length: 60 }, (_, n) => n);
  for (const q of names) assert.deepEqual(seen.get(q), order, q);
});

test("setConcurrency() refuses a number that the option `concurrency` would refuse, and changes nothing.", () => {
  const worker = queue.worker({ tasks: [held().task], concurrency: 4 });
  for (const [given, message] of [
    [0, "must be at least 1"],
    [-3, "must be at least 1"],
    [1.5, "must be a whole number"],
    [10_001, "must be at most 10000"],
    [Number.NaN, "must be a number"],
    ["8", "must be a number"],
    [undefined, "is required"],
  ] as const) {
    assert.throws(() => worker.setConcurrency(given as number), {
      name: "InputError",
      problems: [{ path: "concurrency", message }],
    });
  }
  assert.equal(worker.concurrency, 4);
});

test("A number of slots that is set before the start applies. A number that is set during or after the stop starts no job.", async () => {
  const { task, running, release } = held();
  await add(6);
  const worker = queue.worker({ tasks: [task], concurrency: 1 });
  worker.setConcurrency(3);
  await worker.start();
  await waitUntil("three jobs run", () => running.length === 3);
  const stopped = worker.stop();
  worker.setConcurrency(6);
  worker.setConcurrency(2);
  release(3);
  await stopped;
  worker.setConcurrency(9);
  assert.equal(worker.concurrency, 9);
  assert.equal((await queue.remaining()).length, 3, "no job has started during or after the stop");
});

const beats = async () => {
  const rows = await queue.sql(
    "select from worker._private_workers where last_heartbeat_at > now() - interval '10 s'",
  );
  return rows.length;
};

test("If the number of slots is set several times, the last number applies, also after the worker has lost its lease.", async () => {
  const { task, running, release } = held();
  const lost = witness("worker:leaseLost");
  const worker = await queue.startWorker({
    ...{ tasks: [task], concurrency: 1, recovery: QUICK, plugins: [lost] },
  });
  for (const count of [50, 2, 10_000, 7]) worker.setConcurrency(count);
  await waitUntil("the worker sends a heartbeat", async () => (await beats()) > 0);
  await queue.sql(
    "update worker._private_workers set last_heartbeat_at = now() - interval '1 day'",
  );
  await lost.saw("worker:leaseLost");
  await add(10);
  await waitUntil("seven jobs run", () => running.length === 7);
  release(7);
  await waitUntil("the other three jobs run", () => running.length === 3);
  release(3);
  await worker.drain();
});

test("A new number of slots is in the metrics at once, and in the worker's row after a heartbeat.", async () => {
  const worker = await queue.startWorker({ tasks: [held().task], concurrency: 3, recovery: QUICK });
  worker.setConcurrency(8);
  assert.match(await worker.metrics(), /^worker_slots 8$/m);
  await waitUntil("the worker's row has the new number of slots", async () => {
    const [row] = await queue.sql<{ slots: number }>(
      "select (metadata ->> 'concurrency')::int as slots from worker._private_workers",
    );
    return row?.slots === 8;
  });
});
