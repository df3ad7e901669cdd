// What becomes of a job, or of a batch, when its task returns, throws, rejects or exceeds its time limit.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { rawJson } from "../../src/domain/payload.ts";
import { defineBatchTask, defineTask, type Task } from "../../src/worker/task/task.ts";
import { type JobLeft, latch, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

/** Adds a job and waits until its first attempt has ended. Returns the job's row; undefined: the job is completed. */
async function tried(task: Task<never>, payload: unknown = {}): Promise<JobLeft | undefined> {
  const { id } = await queue.utils.addJob(task.identifier, payload);
  const worker = await queue.startWorker({ tasks: [task] });
  await waitUntil("the first attempt of the job has ended", async () => {
    const [row] = (await queue.remaining()).filter((job) => job.id === id);
    return row === undefined || (row.attempts > 0 && row.locked_by === null);
  });
  await worker.stop();
  return (await queue.remaining()).find((job) => job.id === id);
}

const task = (handler: (payload: never) => unknown) => defineTask<never>("task", handler);

describe("A job is completed when its handler", () => {
  const fine: Record<string, (payload: never) => unknown> = {
    "returns nothing": () => {},
    "resolves to nothing": async () => {},
    "returns an object": () => ({ some: "result" }),
    "returns an empty string": () => "",
    "returns a thenable that is not a promise": () => ({
      // biome-ignore lint/suspicious/noThenProperty: query builders are such objects
      then: (resolve: (value: undefined) => void) => void setImmediate(() => resolve(undefined)),
    }),
  };
  for (const [title, handler] of Object.entries(fine)) {
    test(`${title}.`, async () => assert.equal(await tried(task(handler)), undefined));
  }
});

describe("The attempt of a job fails, and last_error is set, when the handler", () => {
  const failing: Record<string, [(payload: never) => unknown, RegExp]> = {
    "throws an error": [
      () => {
        throw new Error("thrown");
      },
      /^Error: thrown\n {4}at /,
    ],
    "rejects with an error": [
      async () => Promise.reject(new TypeError("later")),
      /^TypeError: later\n/,
    ],
    "rejects with a string": [() => Promise.reject("just text"), /^just text$/],
    "throws an object": [
      () => {
        throw { code: 17, reason: "odd" };
      },
      /code: 17, reason: 'odd'/,
    ],
    "throws an object without a prototype": [
      () => {
        throw Object.assign(Object.create(null), { code: 18 });
      },
      /code: 18/,
    ],
    "rejects with undefined": [() => Promise.reject(undefined), /undefined/],
    "throws a symbol": [
      () => {
        throw Symbol("odd");
      },
      /Symbol\(odd\)/,
    ],
    "throws an error with an invalid stack": [
      () => {
        throw Object.assign(new Error("spoilt"), { stack: 7 });
      },
      /spoilt/,
    ],
    "throws an error that cannot be read": [
      () => {
        throw Object.defineProperty(new Error(), "message", {
          get() {
            throw new Error("no");
          },
        });
      },
      /cannot be shown/,
    ],
    "returns an error string": [() => "not today", /^not today$/],
    "resolves to an error string": [async () => "not now", /^not now$/],
    "returns an Error": [() => new RangeError("handed back"), /^RangeError: handed back/],
    "returns characters that PostgreSQL cannot store": [() => "a\0b\ud800c", /^ab\ufffdc$/],
    "returns a thenable that rejects and is not a promise": [
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: query builders are such objects
        then: (_: unknown, reject: (error: Error) => void) => reject(new Error("lazily")),
      }),
      /^Error: lazily/,
    ],
  };
  for (const [title, [handler, expected]] of Object.entries(failing)) {
    test(`${title}.`, async () => {
      const left = await tried(task(handler));
      assert.match(left?.last_error ?? "", expected);
      assert.equal(left?.attempts, 1);
      const wait_s = left?.wait_s ?? 0;
      assert.ok(wait_s > 2 && wait_s < 2.72, `the retry is in ${wait_s} s; exp(1) s were expected`);
    });
  }

  test("returns a very long error, which is cut.", async () => {
    const left = await tried(task(() => "x".repeat(1_000_000)));
    assert.equal(left?.last_error?.length, 65_536);
  });
});

test("A job whose last attempt fails keeps its row, and its state is failed.", async () => {
  const failing = defineTask("task", () => "never");
  await queue.utils.addJob("task", {}, { maxAttempts: 1 });
  await queue.startWorker({ tasks: [failing] });
  await waitUntil(
    "the job has failed",
    async () => (await queue.remaining())[0]?.last_error !== null,
  );
  const [job] = await queue.utils.listJobs().then(({ jobs }) => jobs);
  assert.equal(job?.state, "failed");
  assert.equal(job?.attempts, 1);
});

describe("A batch", () => {
  const items = ['{"n":9007199254740993}', '{"n":1,"n":2}', "1.50", '"ä\\u00e4"', "[ 1 , 2 ]"];
  const payload = rawJson(`[${items.join(",\n  ")}]`);
  const batch = (results: (items: readonly never[]) => never) =>
    defineBatchTask<never>("task", results);

  test("that succeeds is deleted.", async () => {
    assert.equal(
      await tried(
        batch((all) => all.map(() => null) as never),
        payload,
      ),
      undefined,
    );
    assert.equal(
      await tried(
        batch(() => undefined as never),
        payload,
      ),
      undefined,
    );
  });

  test("keeps only the items that failed, byte for byte.", async () => {
    const left = await tried(
      batch(
        (all) =>
          all.map((_, index) => {
            if (index === 0) return Promise.reject(new Error("no"));
            if (index === 1) return "no";
            return index === 4 ? new Error("no, too") : Promise.resolve();
          }) as never,
      ),
      payload,
    );
    assert.equal(left?.payload, `[${items[0]},${items[1]},${items[4]}]`);
    assert.equal(left?.last_error, "3 of 5 items failed: no; no, too");
  });

  test("fails as a whole when its handler throws.", async () => {
    const left = await tried(
      batch(() => {
        throw new Error("all of it");
      }),
      payload,
    );
    assert.equal(left?.payload, payload.text);
    assert.match(left?.last_error ?? "", /^Error: all of it/);
  });

  test("with too few results fails as a whole, and its rejections are handled.", async () => {
    const left = await tried(
      batch(() => [Promise.reject(new Error("no"))] as never),
      payload,
    );
    assert.equal(left?.payload, payload.text);
    assert.match(left?.last_error ?? "", /a batch of 5 needs as many results/);
  });

  test("whose payload is not a list fails before its handler is called.", async () => {
    let calls = 0;
    const left = await tried(
      batch(() => calls++ as never),
      { not: "a list" },
    );
    assert.match(left?.last_error ?? "", /payload.*must be an array/);
    assert.equal(calls, 0);
  });

  test("has its items parsed for the handler.", async () => {
    let seen: unknown;
    const whole = batch((all) => {
      seen = all;
      return undefined as never;
    });
    await tried(whole, [1, { a: "b" }]);
    assert.deepEqual(seen, [1, { a: "b" }]);
  });
});

describe("A timeout", () => {
  test("of the task fails the attempt, aborts its signal and frees the slot.", async () => {
    let reason: unknown;
    const stuck = defineTask(
      "stuck",
      (_, { signal }) =>
        new Promise(() => signal.addEventListener("abort", () => (reason = signal.reason))),
      { timeoutMs: 50 },
    );
    const ran = latch();
    const next = defineTask("next", () => ran.open());
    await queue.utils.addJob("stuck");
    await queue.utils.addJob("next", {}, { priority: 1 });
    await queue.startWorker({ tasks: [stuck, next], concurrency: 1 });
    await ran.opened;
    await waitUntil(
      "the attempt of the job `stuck` has failed",
      async () => (await queue.remaining())[0]?.last_error !== null,
    );
    assert.equal((await queue.remaining())[0]?.last_error, "timed out after 50 ms");
    assert.match(String(reason), /timed out after 50 ms/);
  });

  test("of the worker applies to every task without a timeout of its own.", async () => {
    const endless = defineTask("endless", () => new Promise(() => {}));
    const patient = defineTask("patient", () => sleep(120), { timeoutMs: 10_000 });
    await queue.utils.addJob("endless");
    await queue.utils.addJob("patient");
    await queue.startWorker({ tasks: [endless, patient], timeoutMs: 30 });
    await waitUntil("only the job that timed out is left", async () => {
      const left = await queue.remaining();
      return left.length === 1 && left[0]?.last_error === "timed out after 30 ms";
    });
  });

  test("has no effect on a handler that ends in time.", async () => {
    const quick = defineTask("quick", () => sleep(5), { timeoutMs: 60_000 });
    assert.equal(await tried(quick as Task<never>), undefined);
  });
});

for (const fastLane of [false, true]) {
  const lane = fastLane ? "the fast" : "the safe";
  test(`A running worker runs jobs of a task even if the row of the task was deleted and created again, in ${lane} mode.`, async () => {
    let runs = 0;
    const counted = defineTask("counted", () => void runs++);
    await queue.startWorker({ tasks: [counted], fastLane, pollIntervalMs: 100 });
    await queue.utils.addJob("counted");
    await waitUntil("the first job has run", () => runs === 1);
    await waitUntil("the first job is deleted", async () => (await queue.remaining()).length === 0);
    await queue.utils.cleanup(["gc-task-identifiers"]);
    assert.deepEqual(await queue.sql("select * from worker._private_tasks"), []);
    await queue.utils.addJob("counted");
    await waitUntil("the second job has run", () => runs === 2);
    await waitUntil(
      "the second job is deleted",
      async () => (await queue.remaining()).length === 0,
    );
  });
}
