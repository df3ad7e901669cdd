// Tests the stop of a worker: running jobs end, unstarted jobs are given back, and the stop can be called at any
// moment. Also tests the time limit of the stop, and the abort.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { defineTask } from "../../src/worker/task/task.ts";
import { lockWaits } from "../support/lock-waits.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import {
  latch,
  recorder,
  recordingTask,
  waitFor,
  waitUntil,
  witness,
  workerQueue,
} from "./worker-queue.ts";

const queue = workerQueue();

/** Returns the number of workers' connections to this file's database. */
async function connections(): Promise<number> {
  const rows = await queue.sql(
    `select from pg_stat_activity where datname = current_database()
     and application_name like 'worker%'`,
  );
  return rows.length;
}

const addMany = (identifier: string, count: number, spec = {}) =>
  queue.utils.addJobs(
    Array.from({ length: count }, (_, n) => ({ identifier, payload: { n }, spec })),
  );

/** Returns a task whose jobs run until `open` is called. `begun` returns how many of the jobs have started. */
function blockingTask() {
  const gate = latch();
  const task = recordingTask("held", () => gate.opened);
  return { ...gate, task, begun: () => task.seen.length };
}

describe("A graceful stop", () => {
  test("waits for running jobs and returns unstarted ones, whose attempts do not count.", async () => {
    const { task, open, begun } = blockingTask();
    await addMany("held", 20);
    const worker = await queue.startWorker({
      tasks: [task],
      concurrency: 2,
      localQueue: { size: 20, adaptive: false },
    });
    await waitUntil("two jobs run and more jobs are fetched", async () => {
      const locked = (await queue.remaining()).filter(({ locked_by }) => locked_by !== null);
      return begun() === 2 && locked.length > 10;
    });
    const stopped = worker.stop();
    await waitUntil("the unstarted jobs are returned", async () => {
      const locked = (await queue.remaining()).filter(({ locked_by }) => locked_by !== null);
      return locked.length === 2;
    });
    open();
    await waitFor("the stop", stopped);
    const left = await queue.remaining();
    assert.equal(left.length, 18);
    assert.ok(left.every(({ attempts, locked_by }) => attempts === 0 && locked_by === null));
    assert.equal(begun(), 2);
  });

  test("cancels a fetch that waits for a lock, and logs no warning about a slow fetch.", async () => {
    const { lines, logger } = recorder();
    const task = recordingTask("task");
    const worker = await queue.startWorker({ tasks: [task], logger, pollIntervalMs: 20 });
    await queue.utils.addJob("task");
    await waitUntil("a job has run", () => task.seen.length === 1);
    const blocker = new pg.Client({ connectionString: queue.url });
    await blocker.connect();
    await blocker.query("begin; lock table worker._private_tasks in access exclusive mode");
    await waitUntil("a fetch waits", async () => (await lockWaits(blocker)) > 0);
    await worker.stop();
    await blocker.end();
    assert.deepEqual(
      lines.filter(({ message }) => message.includes("took too long")),
      [],
    );
  });

  test("behind a pooler, returns jobs that a fetch has locked after the loss of its connection.", async (t) => {
    const proxy = await tcpProxy(queue.url);
    t.after(() => proxy.close());
    const worker = await queue.startWorker({
      connectionString: proxy.url,
      ...{ preparedStatements: false, notify: false, recovery: {}, pollIntervalMs: 20 },
      tasks: [recordingTask("task")],
    });
    const runOne = async () => {
      const { id } = await queue.utils.addJob("task");
      await waitUntil("a job runs", async () =>
        (await queue.remaining()).every((one) => one.id !== id),
      );
    };
    await runOne();
    proxy.reset();
    await runOne();
    // As if a pooler had passed on a fetch of the old connection after the worker had connected again.
    await addMany("other", 1);
    await queue.sql(`update worker._private_jobs
      set locked_by = '${worker.id}', locked_at = now(), attempts = 1`);
    await worker.stop();
    const left = await queue.remaining();
    assert.deepEqual(
      left.map(({ attempts, locked_by }) => [attempts, locked_by]),
      [[0, null]],
    );
    assert.deepEqual(await queue.sql("select id from worker._private_workers"), []);
  });

  test("waits for the running job of a named queue, and unlocks the queue.", async () => {
    const { task, open, begun } = blockingTask();
    await addMany("held", 5, { queueName: "q" });
    const worker = await queue.startWorker({ tasks: [task], concurrency: 3 });
    await waitUntil("the first job runs", () => begun() === 1);
    const stopped = worker.stop();
    open();
    await waitFor("the stop", stopped);
    const left = await queue.remaining();
    assert.deepEqual(
      left.map(({ attempts, locked_by }) => [attempts, locked_by]),
      Array.from({ length: 4 }, () => [0, null]),
    );
    assert.deepEqual(await queue.sql("select locked_by from worker._private_job_queues"), [
      { locked_by: null },
    ]);
  });

  test("starts no job after the call.", async () => {
    const tasks = [recordingTask("quick", () => sleep(1))];
    await addMany("quick", 2_000);
    const worker = await queue.startWorker({ tasks, concurrency: 4 });
    await waitUntil("more than 20 jobs have started", () => (tasks[0]?.seen.length ?? 0) > 20);
    const stopped = worker.stop();
    const begun = tasks[0]?.seen.length;
    await stopped;
    assert.equal(tasks[0]?.seen.length, begun);
    assert.equal((await queue.remaining()).length, 2_000 - (begun ?? 0));
  });

  test("is idempotent, and its event has the reason of the first call.", async () => {
    const saw = witness("worker:shutdown");
    const worker = await queue.startWorker({ tasks: [recordingTask("none")], plugins: [saw] });
    const stops = [worker.stop("first"), worker.stop("second"), worker[Symbol.asyncDispose]()];
    await Promise.all([...stops, worker.stopped]);
    await worker.abort();
    assert.deepEqual(saw.all("worker:shutdown"), [{ workerId: worker.id, reason: "first" }]);
  });

  test("happens at the end of `await using`.", async () => {
    let ended: Promise<void>;
    {
      await using worker = await queue.startWorker({ tasks: [recordingTask("none")] });
      ended = worker.stopped;
    }
    await waitFor("the worker's end", ended);
  });

  test("leaves no connection behind.", async () => {
    const worker = await queue.startWorker({
      tasks: [recordingTask("none")],
      fastLane: true,
      recovery: {},
    });
    assert.ok((await connections()) >= 4);
    await worker.stop();
    await waitUntil("all connections are gone", async () => (await connections()) === 0);
  });

  test("needs no new connection to delete the worker's heartbeat row.", async () => {
    await using proxy = await tcpProxy(queue.url);
    const options = { tasks: [recordingTask("none")], recovery: {} };
    const worker = await queue.startWorker({ ...options, connectionString: proxy.url });
    proxy.of("worker maintenance").mute();
    await worker.stop();
    assert.deepEqual(await queue.sql("select id from worker._private_workers"), []);
  });

  test("unlocks the queue of a job whose result was written while connections were lost.", async (t) => {
    await using proxy = await tcpProxy(queue.url);
    const { task, open, begun } = blockingTask();
    await addMany("held", 1, { queueName: "q" });
    // The worker has no lease, because with a lease the stop would leave the locked queue to recovery.
    const options = { tasks: [task], connections: 1 };
    const worker = await queue.startWorker({ ...options, connectionString: proxy.url });
    await waitUntil("the job runs", () => begun() === 1);
    const client = new pg.Client(queue.url);
    await client.connect();
    t.after(() => client.end());
    await client.query("begin; select from worker._private_job_queues for update");
    const lanes = proxy.of("worker connection");
    lanes.delay(40);
    const waits = `select from pg_stat_activity
      where application_name = 'worker connection' and datname = current_database() and wait_event_type = 'Lock'`;
    lanes.reset();
    open();
    await waitUntil(
      "the unlock of the named queue waits for a lock",
      async () => (await queue.sql(waits)).length > 0,
    );
    assert.deepEqual(await queue.remaining(), []);
    lanes.reset();
    await client.query("rollback");
    await waitFor("the stop", worker.stop(), 5_000);
    assert.deepEqual(await queue.sql("select locked_by from worker._private_job_queues"), [
      { locked_by: null },
    ]);
  });

  test("does not end a pool of the application.", async () => {
    const worker = await queue.startWorker({ tasks: [recordingTask("none")], pool: queue.pool });
    await worker.stop();
    assert.equal(queue.pool.ended, false);
  });
});

describe("stop()", () => {
  test("ends a worker that has not been started; the worker cannot be started afterwards.", async () => {
    for (const lent of [{}, { pool: queue.pool }]) {
      const worker = queue.worker({ tasks: [recordingTask("none")], ...lent });
      await worker.stop();
      await waitFor("the worker's end", worker.stopped);
      await assert.rejects(worker.start(), { code: "aborted" });
    }
  });

  test("ends a worker that is starting.", async () => {
    const task = recordingTask("quick");
    await addMany("quick", 10);
    const worker = queue.worker({ tasks: [task], recovery: {} });
    const started = worker.start().catch(() => {});
    await worker.stop();
    await started;
    const left = await queue.remaining();
    assert.equal(left.length, 10 - task.seen.length);
    assert.ok(left.every(({ attempts, locked_by }) => attempts === 0 && locked_by === null));
  });

  test("ends a worker that has started; the worker cannot be started again.", async () => {
    const worker = await queue.startWorker({ tasks: [recordingTask("none")] });
    await worker.stop();
    await assert.rejects(worker.start(), { code: "aborted" });
  });

  test("has no effect after a failed start: start() still rejects with the same error.", async () => {
    const worker = queue.worker({
      tasks: [recordingTask("none")],
      schema: "nowhere",
      migrate: "never",
    });
    await assert.rejects(worker.start(), { code: "schema_missing" });
    await worker.stop();
    await assert.rejects(worker.start(), { code: "schema_missing" });
  });
});

describe("A stop that takes too long", () => {
  for (const fastLane of [false, true]) {
    const lane = fastLane ? "the fast" : "the safe";
    test(`aborts the signals of jobs at its time limit, and waits for jobs that then end, in ${lane} mode.`, async () => {
      const begun = latch();
      const saw = witness("job:fetch", "job:complete");
      const obedient = defineTask("obedient", async (_, { signal }) => {
        begun.open();
        await sleep(60_000, undefined, { signal }).catch(() => {});
        return (signal.reason as Error).message;
      });
      const worker = await queue.startWorker({
        tasks: [obedient],
        stopTimeoutMs: 200,
        abortGraceMs: 10_000,
        fastLane: fastLane && { limitMs: 20 },
        plugins: [saw],
      });
      await saw.saw("job:fetch");
      await queue.utils.addJob("obedient");
      await begun.opened;
      const from = performance.now();
      await waitFor("the stop", worker.stop("enough"), 5_000);
      assert.ok(performance.now() - from >= 199);
      const [job] = await queue.remaining();
      const message = "the worker was stopped: enough; not done after 200 ms";
      assert.deepEqual([job?.last_error, job?.attempts, job?.locked_by], [message, 1, null]);
      assert.deepEqual(
        saw.all("job:complete").map(({ result, error }) => [result, error]),
        [["failed", message]],
      );
      assert.equal(worker.hasAbandonedJobs, false);
    });
  }

  test("has no time limit with stopTimeoutMs 0, and waits for running jobs.", async () => {
    const { task, open, begun } = blockingTask();
    await queue.utils.addJob("held");
    const worker = await queue.startWorker({ tasks: [task], stopTimeoutMs: 0, abortGraceMs: 10 });
    await waitUntil("the job runs", () => begun() === 1);
    const stopped = worker.stop();
    await sleep(200);
    open();
    await waitFor("the stop", stopped);
    assert.deepEqual([await queue.remaining(), worker.hasAbandonedJobs], [[], false]);
  });

  for (const fault of ["cut", "mute"] as const) {
    test(`ends although the network is ${fault} and a result cannot be written. drain() ends, too.`, async () => {
      await using proxy = await tcpProxy(queue.url);
      const { task, open, begun } = blockingTask();
      await queue.utils.addJob("held");
      const worker = await queue.startWorker({
        tasks: [task],
        connectionString: proxy.url,
        stopTimeoutMs: 300,
        abortGraceMs: 60_000,
      });
      const drained = worker.drain();
      await waitUntil("the job runs", () => begun() === 1);
      if (fault === "cut") await proxy.close();
      else proxy.mute();
      open();
      await waitFor("the stop", worker.stop(), 5_000);
      await waitFor("the drain", drained);
      await waitFor("a second drain() after the stop", worker.drain());
      assert.equal(worker.hasAbandonedJobs, true);
      assert.equal((await queue.remaining())[0]?.locked_by, worker.id);
    });
  }

  test("drain(signal) ends without a stop if its signal aborts, even while the worker's start waits for PostgreSQL.", async () => {
    await using proxy = await tcpProxy(queue.url);
    proxy.mute();
    const worker = queue.worker({ tasks: [recordingTask("none")], connectionString: proxy.url });
    const over = new AbortController();
    const drained = worker.drain(over.signal);
    await waitUntil("the worker connects", () => proxy.accepted > 0);
    over.abort();
    await waitFor("the drain", drained, 2_000);
  });

  for (const fault of ["cut", "mute"] as const) {
    for (const fastLane of [false, true]) {
      const lane = fastLane ? "the fast" : "the safe";
      test(`does not wait for a last fetch that has no answer, in ${lane} mode (network: ${fault}).`, async () => {
        await using proxy = await tcpProxy(queue.url);
        const options = {
          tasks: [recordingTask("none")],
          recovery: {},
          pollIntervalMs: 20,
          fastLane,
        };
        const worker = await queue.startWorker({ ...options, connectionString: proxy.url });
        const [begin] = await queue.sql<{ now: string }>("select clock_timestamp()::text as now");
        proxy.mute("all", "answers");
        const fetchSql = `select from pg_stat_activity
          where application_name in ('worker connection', 'worker fast lane') and datname = current_database() and query_start > $1`;
        await waitUntil(
          "the worker fetches",
          async () => (await queue.sql(fetchSql, [begin?.now])).length > 0,
        );
        if (fault === "cut") await proxy.close();
        else proxy.mute();
        await waitFor("the stop", worker.stop(), 2_000);
      });
    }
  }

  test("does not occur with an idle worker, which stops within two seconds.", async () => {
    const worker = await queue.startWorker({
      tasks: [recordingTask("none")],
      recovery: {},
      fastLane: true,
    });
    await waitFor("the stop", worker.stop(), 2_000);
  });
});

describe("An abort", () => {
  test("aborts the signals of running jobs, and writes the results of jobs that then end.", async () => {
    const begun = latch();
    const obedient = defineTask("obedient", async (_, { signal }) => {
      begun.open();
      await sleep(60_000, undefined, { signal }).catch(() => {});
      return `ended: ${(signal.reason as Error).message}`;
    });
    await queue.utils.addJob("obedient");
    const worker = await queue.startWorker({ tasks: [obedient], abortGraceMs: 10_000 });
    await begun.opened;
    await waitFor("the abort", worker.abort("enough"));
    const [job] = await queue.remaining();
    assert.equal(job?.last_error, "ended: the worker was stopped: enough");
    assert.equal(job?.locked_by, null);
  });

  for (const fastLane of [false, true]) {
    const lane = fastLane ? "the fast" : "the safe";
    test(`ends after a time limit if jobs ignore it, in ${lane} mode.`, async () => {
      const saw = witness("job:interrupted", "worker:start", "job:fetch");
      const deaf = recordingTask("deaf", () => new Promise(() => {}));
      const worker = await queue.startWorker({
        tasks: [deaf],
        concurrency: 2,
        abortGraceMs: 50,
        fastLane: fastLane && { limitMs: 20 },
        plugins: [saw],
      });
      await saw.saw("job:fetch");
      await addMany("deaf", 3, fastLane ? {} : { queueName: "q" });
      await waitUntil("a job runs", () => deaf.seen.length >= 1);
      await waitFor("the abort", worker.abort("now"), 5_000);
      const left = await queue.remaining();
      assert.equal(left.length, 3);
      const interrupted = left.filter(({ last_error }) =>
        /interrupted: .*now/.test(last_error ?? ""),
      );
      assert.equal(interrupted.length, deaf.seen.length);
      assert.deepEqual(
        left.map(({ attempts, locked_by }) => [attempts, locked_by]),
        left.map((job) => [interrupted.includes(job) ? 1 : 0, null]),
      );
      assert.equal(saw.all("job:interrupted").length, deaf.seen.length);
      assert.ok(saw.all("job:interrupted").every(({ reason }) => reason === "shutdown"));
      assert.deepEqual(
        (await queue.sql("select locked_by from worker._private_job_queues")).filter(
          ({ locked_by }) => locked_by !== null,
        ),
        [],
      );
    });
  }
});

// An open connection would keep the process alive after the worker has stopped.
describe("A connection of the pool that a job never releases is closed", () => {
  function greedy(timeoutMs?: number) {
    const taken = latch();
    const task = defineTask(
      "greedy",
      (_, { withPgClient }) =>
        withPgClient(() => {
          taken.open();
          return new Promise<void>(() => {});
        }),
      timeoutMs === undefined ? {} : { timeoutMs },
    );
    return { task, taken: taken.opened };
  }

  test("at an abort, without delaying it.", async () => {
    const { task, taken } = greedy();
    await queue.utils.addJob("greedy");
    const worker = await queue.startWorker({ tasks: [task], abortGraceMs: 50 });
    await taken;
    await waitFor("the abort", worker.abort(), 5_000);
    assert.match((await queue.remaining())[0]?.last_error ?? "", /^interrupted/);
    await waitUntil("all connections are gone", async () => (await connections()) === 0);
  });

  test("at a stop after the job's time limit.", async () => {
    const { task, taken } = greedy(10);
    await queue.utils.addJob("greedy", null, { maxAttempts: 1 });
    const saw = witness("job:failed");
    const worker = await queue.startWorker({ tasks: [task], plugins: [saw], abortGraceMs: 50 });
    await taken;
    await saw.saw("job:failed");
    await waitFor("the stop", worker.stop(), 5_000);
    assert.match((await queue.remaining())[0]?.last_error ?? "", /^timed out/);
    await waitUntil("all connections are gone", async () => (await connections()) === 0);
  });
});
