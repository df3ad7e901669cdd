// Tests which events observers receive, and that an observer that throws does no harm.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Hooks, Plugin, WorkerEvents } from "../../src/worker/task/hooks.ts";
import { defineTask } from "../../src/worker/task/task.ts";
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

describe("An observer is notified", () => {
  test("of the worker's creation, start and stop.", async () => {
    const saw = witness("worker:create", "worker:start", "worker:shutdown", "localQueue:init");
    const tasks = [recordingTask("a"), recordingTask("b")];
    const worker = queue.worker({ tasks, concurrency: 3, plugins: [saw] });
    const workerId = worker.id;
    assert.deepEqual(saw.all("worker:create"), [
      { workerId, concurrency: 3, taskIdentifiers: ["a", "b"] },
    ]);
    assert.deepEqual(saw.all("localQueue:init"), [{ workerId }]);
    assert.deepEqual(saw.all("worker:start"), []);
    await worker.start();
    assert.deepEqual(saw.all("worker:start"), [{ workerId }]);
    assert.deepEqual(saw.all("worker:shutdown"), []);
    await worker.stop("enough");
    assert.deepEqual(saw.all("worker:shutdown"), [{ workerId, reason: "enough" }]);
  });

  test("of a start only if the start succeeds.", async () => {
    const saw = witness("worker:create", "worker:start");
    const worker = queue.worker({
      tasks: [recordingTask("a")],
      schema: "nowhere",
      migrate: "never",
      plugins: [saw],
    });
    await assert.rejects(worker.start());
    assert.deepEqual(saw.all("worker:start"), []);
  });

  test("of a job's start and its end, with the job and its duration.", async () => {
    const saw = witness("job:start", "job:success", "job:error", "job:failed");
    const gate = latch();
    const slow = defineTask<{ n: number }>("slow", () => gate.opened);
    const { id } = await queue.utils.addJob("slow", { n: 7 }, { jobKey: "k", priority: -3 });
    const from = performance.now();
    await queue.startWorker({ tasks: [slow], plugins: [saw] });
    const { job } = await saw.saw("job:start");
    assert.deepEqual(
      [
        job.id,
        job.taskIdentifier,
        job.payload,
        job.key,
        job.priority,
        job.attempts,
        job.maxAttempts,
      ],
      [id, "slow", { n: 7 }, "k", -3, 1, 25],
    );
    assert.deepEqual(saw.all("job:success"), []);
    gate.open();
    const done = await saw.saw("job:success");
    assert.equal(done.job, job);
    assert.ok(done.durationMs >= 0 && done.durationMs <= performance.now() - from);
    assert.deepEqual([saw.all("job:error"), saw.all("job:failed")], [[], []]);
  });

  test("of each failed attempt, and of the failure of a job after its last attempt.", async () => {
    const saw = witness("job:error", "job:failed", "job:success");
    const failing = recordingTask<string>("failing", (name) =>
      Promise.reject(new RangeError(name)),
    );
    await queue.utils.addJob("failing", "once", { maxAttempts: 2 });
    await queue.utils.addJob("failing", "last", { maxAttempts: 1 });
    await queue.startWorker({ tasks: [failing], plugins: [saw] });
    await saw.saw("job:error", 2);
    const again = saw.all("job:error").find(({ job }) => job.payload === "once");
    assert.equal(again?.error.message, "once");
    assert.ok(again?.error instanceof RangeError && again.durationMs >= 0);
    const good = await saw.saw("job:failed");
    assert.deepEqual([good.job.payload, good.error.message], ["last", "last"]);
    await waitUntil("both errors are written", async () =>
      (await queue.remaining()).every(({ last_error }) => last_error !== null),
    );
    const payloads = (name: "job:error" | "job:failed") =>
      saw.all(name).map(({ job }) => job.payload);
    assert.deepEqual(
      [payloads("job:error").sort(), payloads("job:failed")],
      [["last", "once"], ["last"]],
    );
    assert.deepEqual(saw.all("job:success"), []);
  });

  for (const fastLane of [false, true]) {
    const lane = fastLane ? "the fast" : "the ordinary";
    test(`of every result once it is committed, in ${lane} lane.`, async () => {
      const before: (keyof WorkerEvents)[] = ["job:success", "job:error", "job:failed"];
      const results = new Map<unknown, string[]>();
      const rows = new Map<unknown, Promise<(string | null)[]>>();
      const observer: Plugin = {
        name: "observer",
        register(hooks) {
          for (const name of before) {
            hooks.on(name, (event) => {
              const { job } = event as WorkerEvents["job:success"];
              results.set(job.payload, [...(results.get(job.payload) ?? []), name]);
            });
          }
          hooks.on("job:complete", ({ job, result, error, workerId }) => {
            results.get(job.payload)?.push(result, String(error), workerId);
            // This query runs on another connection, so it sees only committed data.
            const row = queue.sql<{ last_error: string | null }>(
              `select last_error from worker._private_jobs where id = ${job.id}`,
            );
            rows.set(
              job.payload,
              row.then((found) => found.map(({ last_error }) => last_error)),
            );
          });
        },
      };
      const task = recordingTask<string>("task", (how) => (how === "good" ? undefined : how));
      const saw = witness("job:fetch");
      const worker = await queue.startWorker({ tasks: [task], fastLane, plugins: [observer, saw] });
      // If the jobs were added before the first fetch of the safe mode, this fetch could take the fast lane's jobs.
      await saw.saw("job:fetch");
      await queue.utils.addJob("task", "good");
      await queue.utils.addJob("task", "bad");
      await queue.utils.addJob("task", "worst", { maxAttempts: 1 });
      await waitUntil("all three jobs are settled", () => rows.size === 3);
      assert.deepEqual(Object.fromEntries(results), {
        good: ["job:success", "completed", "null", worker.id],
        bad: ["job:error", "failed", "bad", worker.id],
        worst: ["job:error", "job:failed", "failed", "worst", worker.id],
      });
      assert.deepEqual(await Promise.all(["good", "bad", "worst"].map((how) => rows.get(how))), [
        [],
        ["bad"],
        ["worst"],
      ]);
    });
  }

  test("of jobs that are returned unstarted.", async () => {
    const gate = latch();
    const saw = witness("job:complete", "job:start");
    const slow = recordingTask("slow", () => gate.opened);
    await queue.utils.addJobs(Array.from({ length: 3 }, () => ({ identifier: "slow" })));
    const options = { tasks: [slow], concurrency: 1, plugins: [saw], connections: 1 };
    const worker = await queue.startWorker({
      ...options,
      localQueue: { size: 4, adaptive: false },
    });
    await waitUntil("all three jobs are locked by the worker", async () =>
      (await queue.remaining()).every(({ locked_by }) => locked_by === worker.id),
    );
    // Locked rows do not show that a job has started: the worker may not have received the answer to the fetch yet.
    await saw.saw("job:start");
    const stopped = worker.stop();
    await saw.saw("job:complete", 2);
    assert.deepEqual(
      saw.all("job:complete").map(({ result, error }) => [result, error]),
      [
        ["returned", null],
        ["returned", null],
      ],
    );
    gate.open();
    await waitFor("the worker's stop", stopped);
    assert.equal(saw.all("job:complete")[2]?.result, "completed");
    assert.equal(saw.all("job:start").length, 1);
  });

  test("with the job's queue and the worker's id in each event of a job.", async () => {
    const saw = witness("job:start", "job:success", "job:error");
    const ids: string[] = [];
    const task = defineTask<string>("task", (how, { workerId }) => {
      ids.push(workerId);
      return how === "good" ? undefined : how;
    });
    await queue.utils.addJob(task, "good", { queueName: "mail" });
    await queue.utils.addJob(task, "bad");
    const worker = await queue.startWorker({ tasks: [task], plugins: [saw] });
    await Promise.all([saw.saw("job:success"), saw.saw("job:error")]);
    assert.equal(saw.all("job:success")[0]?.job.queueName, "mail");
    assert.equal(saw.all("job:error")[0]?.job.queueName, null);
    const names = ["job:start", "job:success", "job:error"] as const;
    const results = names.flatMap((name) => saw.all(name).map(({ workerId }) => workerId));
    assert.deepEqual(
      [...ids, ...results],
      Array.from({ length: 6 }, () => worker.id),
    );
  });

  test("of each fetch, with the number of jobs and the duration.", async () => {
    await queue.utils.addJobs(Array.from({ length: 5 }, () => ({ identifier: "quick" })));
    const saw = witness("job:fetch", "localQueue:getJobs:complete");
    const quick = recordingTask("quick");
    const worker = await queue.startWorker({ tasks: [quick], plugins: [saw] });
    await waitUntil("all jobs have run", () => quick.seen.length === 5);
    await worker.stop();
    const fetched = saw.all("job:fetch");
    const counts = fetched.map(({ count }) => count);
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      5,
    );
    assert.ok(
      fetched.every(({ workerId, durationMs }) => workerId === worker.id && durationMs > 0),
    );
    assert.deepEqual(
      saw.all("localQueue:getJobs:complete"),
      counts.map((count) => ({ workerId: worker.id, count })),
    );
  });

  test("once when the database is lost, and once when it is back.", async () => {
    const saw = witness("worker:disconnected", "worker:reconnected");
    const quick = recordingTask("quick");
    const worker = await queue.startWorker({ tasks: [quick], connections: 1, plugins: [saw] });
    await queue.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'worker%'`,
    );
    const { workerId, error } = await saw.saw("worker:disconnected");
    assert.equal(workerId, worker.id);
    // The first error may be the server's last message, the end of the connection, or a failed write.
    assert.match(error.message, /terminat|closed|reset|EPIPE/i);
    assert.deepEqual(await saw.saw("worker:reconnected"), { workerId });
    await queue.utils.addJob("quick");
    await waitUntil("the job added after the reconnection has run", () => quick.seen.length === 1);
    assert.equal(saw.all("worker:disconnected").length, 1);
    assert.equal(saw.all("worker:reconnected").length, 1);
  });
});

describe("An observer that throws", () => {
  const EVERYTHING: readonly (keyof WorkerEvents)[] = [
    ...(["worker:create", "worker:start", "worker:shutdown", "job:fetch", "job:start"] as const),
    ...(["job:success", "job:error", "localQueue:init", "localQueue:setMode"] as const),
    ...(["localQueue:getJobs:complete"] as const),
  ];
  const ways: Record<string, (name: string) => unknown> = {
    "at once": (name) => {
      throw new Error(`no ${name}`);
    },
    later: async (name) => {
      throw new Error(`no ${name}`);
    },
  };
  for (const [when, fail] of Object.entries(ways)) {
    test(`${when} harms neither the worker nor other observers, and the error is logged.`, async () => {
      const rude: Plugin = {
        name: "rude",
        register(hooks: Hooks) {
          for (const name of EVERYTHING) hooks.on(name, () => fail(name));
        },
      };
      const saw = witness(...EVERYTHING);
      const { logger, lines } = recorder();
      const task = recordingTask<string>("task", (how) =>
        how === "bad" ? "it failed" : undefined,
      );
      await queue.utils.addJob("task", "good");
      await queue.utils.addJob("task", "bad");
      const worker = await queue.startWorker({ tasks: [task], logger, plugins: [rude, saw] });
      await Promise.all([saw.saw("job:success"), saw.saw("job:error")]);
      await waitFor("the worker's stop", worker.stop());
      const [left, ...more] = await queue.remaining();
      assert.deepEqual([left?.last_error, more], ["it failed", []]);
      const complaints = lines.filter(({ message }) => message === "an observer failed");
      for (const name of EVERYTHING) {
        assert.ok(saw.all(name).length > 0, `${name} reached the other observer`);
        const logged = complaints.filter(({ fields }) => fields["hook"] === name);
        assert.equal(logged.length, saw.all(name).length, name);
        assert.ok(
          logged.every(
            ({ level, fields }) => level === "error" && fields["error"] === `no ${name}`,
          ),
        );
      }
    });
  }
});
