// What observers are told, and what becomes of a worker whose observers throw.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Hooks, Plugin, WorkerEvents } from "../../src/worker/hooks.ts";
import { defineTask } from "../../src/worker/task.ts";
import { latch, recorder, recording, until, within, witness, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

describe("An observer is told", () => {
  test("of the worker's life: made, started, asked to stop.", async () => {
    const saw = witness("worker:init", "worker:start", "worker:shutdown", "localQueue:init");
    const tasks = [recording("a"), recording("b")];
    const worker = queue.worker({ tasks, concurrency: 3, plugins: [saw] });
    const workerId = worker.id;
    assert.deepEqual(saw.all("worker:init"), [
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

  test("of no start when there was none.", async () => {
    const saw = witness("worker:init", "worker:start");
    const worker = queue.worker({ tasks: [recording("a")], schema: "nowhere", plugins: [saw] });
    await assert.rejects(worker.start());
    assert.deepEqual(saw.all("worker:start"), []);
  });

  test("of a job's start and its end, with the job and how long it took.", async () => {
    const saw = witness("job:start", "job:complete", "job:fail", "job:permanentlyFail");
    const gate = latch();
    const slow = defineTask<{ n: number }>("slow", () => gate.opened);
    const { id } = await queue.utils.addJob("slow", { n: 7 }, { jobKey: "k", priority: -3 });
    const from = performance.now();
    await queue.started({ tasks: [slow], plugins: [saw] });
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
    assert.deepEqual(saw.all("job:complete"), []);
    gate.open();
    const done = await saw.saw("job:complete");
    assert.equal(done.job, job);
    assert.ok(done.duration_ms >= 0 && done.duration_ms <= performance.now() - from);
    assert.deepEqual([saw.all("job:fail"), saw.all("job:permanentlyFail")], [[], []]);
  });

  test("of a failure, and of the one that is for good.", async () => {
    const saw = witness("job:fail", "job:permanentlyFail", "job:complete");
    const failing = recording<string>("failing", (name) => Promise.reject(new RangeError(name)));
    await queue.utils.addJob("failing", "once", { maxAttempts: 2 });
    await queue.utils.addJob("failing", "last", { maxAttempts: 1 });
    await queue.started({ tasks: [failing], plugins: [saw] });
    const again = await saw.saw("job:fail");
    assert.deepEqual([again.job.payload, again.error.message], ["once", "once"]);
    assert.ok(again.error instanceof RangeError && again.duration_ms >= 0);
    const good = await saw.saw("job:permanentlyFail");
    assert.deepEqual([good.job.payload, good.error.message], ["last", "last"]);
    await until("both are written", async () =>
      (await queue.left()).every(({ last_error }) => last_error !== null),
    );
    assert.equal(saw.all("job:fail").length + saw.all("job:permanentlyFail").length, 2);
    assert.deepEqual(saw.all("job:complete"), []);
  });

  test("of each fetch, how many jobs it brought and how long it took.", async () => {
    await queue.utils.addJobs(Array.from({ length: 5 }, () => ({ identifier: "quick" })));
    const saw = witness("job:fetch", "localQueue:jobsFetched");
    const quick = recording("quick");
    const worker = await queue.started({ tasks: [quick], plugins: [saw] });
    await until("all have run", () => quick.seen.length === 5);
    await worker.stop();
    const fetched = saw.all("job:fetch");
    const counts = fetched.map(({ count }) => count);
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      5,
    );
    assert.ok(
      fetched.every(({ workerId, duration_ms }) => workerId === worker.id && duration_ms > 0),
    );
    assert.deepEqual(
      saw.all("localQueue:jobsFetched"),
      counts.map((count) => ({ workerId: worker.id, count })),
    );
  });

  test("once that the database is away, and once that it is back.", async () => {
    const saw = witness("worker:disconnected", "worker:reconnected");
    const quick = recording("quick");
    const worker = await queue.started({ tasks: [quick], lanes: 1, plugins: [saw] });
    await queue.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'worker%'`,
    );
    const { workerId, error } = await saw.saw("worker:disconnected");
    assert.equal(workerId, worker.id);
    assert.match(error.message, /terminat|closed|reset/i);
    assert.deepEqual(await saw.saw("worker:reconnected"), { workerId });
    await queue.utils.addJob("quick");
    await until("it works again", () => quick.seen.length === 1);
    assert.equal(saw.all("worker:disconnected").length, 1);
    assert.equal(saw.all("worker:reconnected").length, 1);
  });
});

describe("An observer that throws", () => {
  const EVERYTHING: readonly (keyof WorkerEvents)[] = [
    ...(["worker:init", "worker:start", "worker:shutdown", "job:fetch", "job:start"] as const),
    ...(["job:complete", "job:fail", "localQueue:init", "localQueue:setMode"] as const),
    ...(["localQueue:jobsFetched"] as const),
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
    test(`${when} is logged and harms neither the worker nor other observers.`, async () => {
      const rude: Plugin = {
        name: "rude",
        register(hooks: Hooks) {
          for (const name of EVERYTHING) hooks.on(name, () => fail(name));
        },
      };
      const saw = witness(...EVERYTHING);
      const { logger, lines } = recorder();
      const task = recording<string>("task", (how) => (how === "bad" ? "it failed" : undefined));
      await queue.utils.addJob("task", "good");
      await queue.utils.addJob("task", "bad");
      const worker = await queue.started({ tasks: [task], logger, plugins: [rude, saw] });
      await Promise.all([saw.saw("job:complete"), saw.saw("job:fail")]);
      await within("the stop", worker.stop());
      const [left, ...more] = await queue.left();
      assert.deepEqual([left?.last_error, more], ["it failed", []]);
      const complaints = lines.filter(({ message }) => message === "an observer threw");
      for (const name of EVERYTHING) {
        assert.ok(saw.all(name).length > 0, `${name} reached the other observer`);
        const said = complaints.filter(({ fields }) => fields["hook"] === name);
        assert.equal(said.length, saw.all(name).length, name);
        assert.ok(
          said.every(({ level, fields }) => level === "error" && fields["error"] === `no ${name}`),
        );
      }
    });
  }
});
