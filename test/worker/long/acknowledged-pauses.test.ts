// Tests the acknowledgement of pauses, the option cancelRunning, and when a worker reads the pauses.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { silentLogger } from "../../../src/base/logger.ts";
import {
  type Acknowledgement,
  readAcknowledgement,
} from "../../../src/insight/controls/acknowledgement.ts";
import { readPauseState } from "../../../src/queue/pauses/pause-state.ts";
import { ControlWatch } from "../../../src/worker/control-watch.ts";
import type { Hooks } from "../../../src/worker/task/hooks.ts";
import { defineTask } from "../../../src/worker/task/task.ts";
import type { TaskContext } from "../../../src/worker/task/task-context.ts";
import { migratedDatabase } from "../../support/database.ts";
import { lockWaits } from "../../support/lock-waits.ts";
import { latch, recordingTask, waitUntil, workerQueue } from "../worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["controls"]));
beforeEach(() => queue.sql("truncate worker._private_pauses, worker._private_workers"));

const HELD = { recovery: {} } as const;
const all = (acknowledged: number): Acknowledgement => {
  return { acknowledged, waiting: 0, waitingFor: [] };
};

/**
 * Adds a job of the task `other` and waits until this job has run. The job is the least urgent, so each job of `task`
 * that may start has then started.
 */
async function passThrough(seen: readonly unknown[]): Promise<void> {
  const before = seen.length;
  await queue.utils.addJob("other", {}, { priority: 100 });
  await waitUntil("the other job has run", () => seen.length > before);
}

/** Adds the row of a worker of an earlier version, which acknowledges no pauses. */
const addOlderWorker = (id: string) =>
  queue.sql(`insert into worker._private_workers (id, last_heartbeat_at, metadata)
    values ('${id}', now(), '{"threshold_ms": 60000}')`);

const modes = [
  ["safe", {}],
  ["fast", { fastLane: true }],
] as const;
for (const [mode, options] of modes) {
  test(`Under load, no paused job starts after all workers have acknowledged the pause, whatever its scope (${mode}).`, async () => {
    let started = 0;
    const task = recordingTask("task", async () => {
      started++;
      await new Promise((resolve) => setImmediate(resolve));
    });
    const other = recordingTask("other");
    const tasks = { tasks: [task, other], concurrency: 4, ...HELD, ...options };
    await Promise.all([queue.startWorker(tasks), queue.startWorker(tasks)]);
    for (const scope of ["task", "all", "queue", "task", "task", "all", "queue", "task"]) {
      const spec = scope === "queue" ? { queueName: "q" } : {};
      await queue.utils.addJobs(
        Array.from({ length: 3_000 }, () => ({ identifier: "task", spec })),
      );
      const before = started;
      await waitUntil("jobs start", () => started > before + 20);
      const answer =
        scope === "queue"
          ? await queue.utils.pauseQueue("q")
          : await (scope === "task" ? queue.utils.pauseTask("task") : queue.utils.pauseAll());
      const startedAtAnswer = started;
      assert.deepEqual(answer, all(2));
      const [left] = await queue.sql<{ locked: number; count: number }>(
        `select count(*) filter (where locked_at is not null)::int as locked, count(*)::int as count
        from worker._private_jobs`,
      );
      assert.ok((left?.count ?? 0) > 0, "some jobs were still waiting when the pause began");
      assert.ok((left?.locked ?? 0) <= 8, `${left?.locked} jobs are locked`);
      if (scope !== "all") await passThrough(other.seen);
      else await queue.sql("select pg_notify('jobs:insert', '{\"count\":1}')");
      await waitUntil("all started jobs have ended", async () => {
        const [row] = await queue.sql<{ locked: number }>(
          "select count(*)::int as locked from worker._private_jobs where locked_at is not null",
        );
        return row?.locked === 0;
      });
      assert.equal(started, startedAtAnswer, `no paused job starts (scope: ${scope})`);
      await queue.sql("delete from worker._private_jobs");
      if (scope === "queue") await queue.utils.resumeQueue("q");
      else await (scope === "task" ? queue.utils.resumeTask("task") : queue.utils.resumeAll());
    }
  });
}

test("If a fetch begins before a pause and is answered during the pause, no paused job starts.", async () => {
  const [task, other] = [recordingTask("task"), recordingTask("other")];
  await queue.sql(`create function public.hold() returns trigger language plpgsql as $$ begin
    perform pg_advisory_xact_lock_shared(4711); return new; end $$`);
  await queue.sql(`create trigger hold before update on worker._private_jobs
    for each row when (old.attempts < new.attempts) execute function public.hold()`);
  const worker = await queue.startWorker({ tasks: [task, other], concurrency: 1, ...HELD });
  await passThrough(other.seen);
  const holder = await queue.pool.connect();
  try {
    await holder.query("begin");
    await holder.query("select pg_advisory_xact_lock(4711)");
    await queue.utils.addJob("task");
    await waitUntil("the fetch waits for the lock", async () => (await lockWaits(holder)) === 1);
    const early = await queue.utils.pauseTask("task", { waitMs: 300 });
    assert.deepEqual(early, { acknowledged: 0, waiting: 1, waitingFor: [worker.id] });
    await holder.query("commit");
    await waitUntil("all workers have acknowledged the pause", async () => {
      return (await readAcknowledgement(queue.utils.database)).waiting === 0;
    });
    await passThrough(other.seen);
    assert.equal(task.seen.length, 0);
    const [job] = await queue.remaining();
    assert.deepEqual([job?.locked_by, job?.attempts], [null, 0]);
  } finally {
    holder.release();
    await queue.sql("drop function public.hold() cascade");
  }
});

for (const [mode, options] of modes) {
  test(`If a task is paused while an interceptor of its job runs, the job starts before the pause is acknowledged (${mode}).`, async () => {
    const [sent, answer] = [latch(), latch()];
    const task = recordingTask("task");
    const gate = {
      name: "gate",
      register: (hooks: Hooks) => {
        hooks.intercept("beforeJobRun", async () => {
          sent.open();
          await answer.opened;
        });
      },
    };
    await queue.startWorker({ tasks: [task], plugins: [gate], ...HELD, ...options });
    await queue.utils.addJob("task");
    await sent.opened;
    assert.equal((await queue.utils.pauseTask("task", { waitMs: 200 })).waiting, 1);
    assert.equal(task.seen.length, 0);
    answer.open();
    assert.deepEqual(await queue.utils.pauseTask("task"), all(1));
    assert.equal(task.seen.length, 1);
  });
}

test("A pause is acknowledged long before the next heartbeat.", async () => {
  const task = recordingTask("task");
  await queue.startWorker({ tasks: [task], ...HELD });
  const tooks: number[] = [];
  for (let n = 0; n < 9; n++) {
    const atMs = performance.now();
    assert.deepEqual(await queue.utils.pauseTask("task"), all(1));
    tooks.push(performance.now() - atMs);
  }
  tooks.sort((a, b) => a - b);
  assert.ok((tooks[4] ?? 0) < 500, tooks.join());
});

test("Without announcements a pause is acknowledged before pauseTask() stops waiting.", async () => {
  const task = recordingTask("task");
  await queue.startWorker({ tasks: [task], notify: false, ...HELD });
  assert.deepEqual(await queue.utils.pauseTask("task"), all(1));
});

test("pauseTask() does not wait forever for a worker of an earlier version, and returns the worker's id.", async () => {
  const task = recordingTask("task");
  await addOlderWorker("worker-3");
  const worker = await queue.startWorker({ tasks: [task], ...HELD });
  await waitUntil("the worker has written its first acknowledgement", async () => {
    return (await readAcknowledgement(queue.utils.database)).acknowledged === 1;
  });
  const named = { acknowledged: 1, waiting: 1, waitingFor: ["worker-3"] };
  assert.deepEqual(await queue.utils.pauseTask("task", { waitMs: 1_500 }), named);
  assert.equal(
    (await queue.utils.pauseTask("task", { waitMs: 0 })).waitingFor.includes("worker-3"),
    true,
  );
  const over = new AbortController();
  const waiting = queue.utils.pauseTask("task", { waitMs: 60_000, signal: over.signal });
  await waitUntil(
    "the task is paused again",
    async () => (await queue.utils.listPauses()).length === 1,
  );
  over.abort();
  assert.equal((await waiting).waitingFor.includes("worker-3"), true);
  await queue.sql(
    "update worker._private_workers set last_heartbeat_at = now() - interval '2 minutes' where id = 'worker-3'",
  );
  assert.deepEqual(
    await queue.utils.pauseTask("task"),
    all(1),
    "pauseTask() does not wait for a worker whose lease has expired",
  );
  await worker.stop();
  assert.deepEqual(await readAcknowledgement(queue.utils.database), all(0));
});

test("Inside a transaction, pauseTask() does not wait for workers, and the pause begins with the commit.", async () => {
  const [task, other] = [recordingTask("task"), recordingTask("other")];
  await queue.startWorker({ tasks: [task, other], ...HELD });
  const client = await queue.pool.connect();
  try {
    await client.query("begin");
    const answer = await queue.utils.with(client).pauseTask("task", { waitMs: 60_000 });
    assert.deepEqual([answer.acknowledged, answer.waiting], [0, 1]);
    // The pause of `task` has the earlier `paused_at`, but the worker can read it only after the commit. A worker that
    // looked only for a later `paused_at` would miss it.
    assert.deepEqual(await queue.utils.pauseTask("another"), all(1));
    await client.query("commit");
  } finally {
    client.release();
  }
  await waitUntil("the pause is acknowledged", async () => {
    return (await readAcknowledgement(queue.utils.database)).waiting === 0;
  });
  await queue.utils.addJob("task");
  await passThrough(other.seen);
  assert.equal(task.seen.length, 0);
});

test("A worker that starts during a pause acknowledges the pause. After the loss of its lease, the worker acknowledges pauses under its new id.", async () => {
  const [task, other] = [recordingTask("task"), recordingTask("other")];
  await queue.utils.pauseTask("task");
  const worker = await queue.startWorker({ tasks: [task, other], ...HELD });
  const acknowledged = async () => (await readAcknowledgement(queue.utils.database)).acknowledged;
  await waitUntil("the worker acknowledges the pause", async () => (await acknowledged()) === 1);
  const first = worker.id;
  await queue.sql(`delete from worker._private_workers where id = '${first}'`);
  await waitUntil("the worker has a new id", () => worker.id !== first);
  assert.deepEqual(await queue.utils.pauseTask("task"), all(1));
  await queue.utils.addJob("task");
  await passThrough(other.seen);
  assert.equal(task.seen.length, 0);
});

for (const [mode, options] of modes) {
  test(`With cancelRunning, a pause cancels the running jobs that it covers, no other running jobs, and no waiting jobs (${mode}).`, async () => {
    const ended: unknown[] = [];
    const untilCancelled = async (payload: unknown, { signal }: TaskContext) => {
      const { promise, reject } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => reject(signal.reason));
      running++;
      await promise.finally(() => ended.push(payload));
    };
    let running = 0;
    const task = defineTask("task", untilCancelled);
    const other = defineTask("other", untilCancelled);
    const worker = await queue.startWorker({
      tasks: [task, other],
      concurrency: 3,
      ...HELD,
      ...options,
    });
    await queue.utils.addJob("other", "other");
    await waitUntil("the job of the other task runs", () => running === 1);
    await queue.utils.addJobs(
      Array.from({ length: 4 }, (_, n) => ({ identifier: "task", payload: n })),
    );
    await waitUntil("three jobs run", () => running === 3);
    const answer = await queue.utils.pauseTask("task", { reason: "deploy", cancelRunning: true });
    assert.deepEqual(answer, { ...all(1), cancelling: 2 });
    await waitUntil("the cancelled jobs have failed", async () => {
      const left = await queue.remaining();
      return left.filter((job) => job.last_error?.startsWith("cancelled: deploy")).length === 2;
    });
    // In the fast mode, any two of the four jobs may have been running.
    assert.deepEqual(
      ended.map((payload) => typeof payload),
      ["number", "number"],
    );
    const waiting = (await queue.remaining()).filter(
      (job) => job.attempts === 0 && job.payload !== '"other"',
    );
    assert.equal(waiting.length, 2);
    assert.deepEqual(await queue.utils.pauseQueue("none", { cancelRunning: true }), {
      ...all(1),
      cancelling: 0,
    });
    assert.equal((await queue.utils.pauseAll({ cancelRunning: true })).cancelling, 1);
    await waitUntil("the job of the other task has ended", () => ended.length === 3);
    await assert.rejects(queue.utils.pauseAll({ cancelRunning: true, waitMs: 0 }), {
      code: "bad_input",
    });
    await worker.stop();
  });
}

test("Inside a transaction, a pause with cancelRunning is refused, because no worker can acknowledge it before the commit.", async () => {
  const client = await queue.pool.connect();
  try {
    await client.query("begin");
    await assert.rejects(queue.utils.with(client).pauseTask("task", { cancelRunning: true }), {
      code: "configuration",
      message: /cannot run inside a transaction/,
    });
    await client.query("commit");
    assert.deepEqual(await queue.utils.listPauses(), []);
  } finally {
    client.release();
  }
});

test("If a pause ends during an outage, the worker attempts to read the pauses every 2 s, not in a busy loop.", async () => {
  let connection: typeof queue.utils.database | null = queue.utils.database;
  let requests = 0;
  const again = Promise.withResolvers<void>();
  const watch = new ControlWatch({
    limits: { read: async () => null },
    patient: queue.utils.database,
    logger: silentLogger,
    database: () => {
      if (connection === null && ++requests === 2) again.resolve();
      return connection;
    },
    returnUnstarted: async () => {},
    ...{ wake: () => {}, jobs: () => [], cancel: () => false },
    ...{ isOwn: () => false, acknowledge: () => {} },
  });
  await queue.sql(`insert into worker._private_pauses (scope, name, resume_at)
    values ('task', 'ends', now() + interval '100 ms')`);
  await watch.start(queue.utils.database);
  connection = null;
  const beganAt = performance.now();
  await again.promise;
  assert.ok(
    performance.now() - beganAt > 1_000,
    "the second attempt to read the pauses is made after more than 1 s",
  );
  await watch.stop();
  // Ends the pause if the watch has not ended it.
  await queue.utils.resumeTask("ends");
});

test("A new pause, even one with an earlier time than a previous pause, makes the worker return fetched jobs. The end of a pause does not.", async () => {
  let returns = 0;
  const { database } = queue.utils;
  const watch = new ControlWatch({
    limits: { read: async () => null },
    patient: queue.utils.database,
    logger: silentLogger,
    database: () => database,
    returnUnstarted: async () => void returns++,
    wake: () => {},
    jobs: () => [],
    cancel: () => false,
    isOwn: () => false,
    acknowledge: () => {},
  });
  // One statement adds all pauses, because the watch could otherwise read the pauses between two statements.
  const pauseAt = (...pauses: (readonly [name: string, at: string])[]) =>
    queue.sql(`insert into worker._private_pauses (scope, name, paused_at)
      values ${pauses.map(([name, at]) => `('task', '${name}', '${at}')`).join()}`);
  const acknowledgedReturns = async () => {
    watch.readNow();
    const { mark } = await readPauseState(database, null);
    await waitUntil("the pauses are acknowledged", () => watch.appliedPauses === mark);
    return returns;
  };
  await watch.start(database);
  assert.equal(await acknowledgedReturns(), 0);
  await pauseAt(["a", "2026-01-02"], ["b", "2026-01-03"]);
  assert.equal(await acknowledgedReturns(), 1);
  await queue.utils.resumeTask("a");
  assert.equal(await acknowledgedReturns(), 1);
  await queue.utils.resumeTask("b");
  await pauseAt(["c", "2026-01-01"]);
  assert.equal(await acknowledgedReturns(), 2);
  await watch.stop();
});
