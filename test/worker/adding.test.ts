// Tests adding jobs while a worker runs: by the functions of this library, by SQL, and from inside other jobs. Each
// task must get exactly the payload that was added.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Job } from "../../src/domain/job.ts";
import { type RawJson, rawJson } from "../../src/domain/payload.ts";
import { runOnce } from "../../src/worker/run.ts";
import { defineTask, type Task } from "../../src/worker/task/task.ts";
import { recordingTask, waitFor, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();
const NEVER_MS = 3_600_000;

const worked = (tasks: readonly Task<never>[]) =>
  waitFor("runOnce", runOnce({ connectionString: queue.url, recovery: false, tasks }));

describe("With every way of adding", () => {
  const text = '{"b":1, "a" : 9223372036854775807123,\n"b":2,"ü":"\\u0000 😀"}';
  const ways: Record<string, (payload: RawJson) => Promise<unknown>> = {
    addJob: (payload) => queue.utils.addJob("task", payload),
    "addJob with a key": (payload) => queue.utils.addJob("task", payload, { jobKey: "k" }),
    addJobs: (payload) => queue.utils.addJobs([{ identifier: "task", payload }]),
    "addJobs with a key": (payload) =>
      queue.utils.addJobs([{ identifier: "task", payload, spec: { jobKey: "k" } }]),
    copyJobs: (payload) => queue.utils.copyJobs([{ identifier: "task", payload }]),
    "SQL, by Graphile Worker's function": ({ text }) =>
      queue.sql("select worker.add_job('task', $1)", [text]),
  };
  for (const [way, add] of Object.entries(ways)) {
    test(`an idle worker wakes up, and its task gets the exact payload: ${way}.`, async () => {
      const seen: string[] = [];
      const task = defineTask("task", (_, { job }) => void seen.push(job.payloadText));
      await queue.startWorker({ tasks: [task], pollIntervalMs: NEVER_MS });
      await add(rawJson(text));
      await waitUntil("the job has run", () => seen.length === 1);
      assert.deepEqual(seen, [text]);
    });
  }
});

for (const fastLane of [false, true]) {
  const lane = fastLane ? "the fast" : "the ordinary";
  test(`Many payloads of different sizes, added at once, reach their task unchanged in ${lane} lane.`, async () => {
    const sizes = [10, 70_000, 65_536, 65_535, 1, 2_000_000, 70_001, 5];
    const texts = sizes.flatMap((size) => ["x", "é"].map((one) => `"${one.repeat(size)}"`));
    const seen: string[] = [];
    const task = defineTask("sized", (_, { job }) => void seen.push(job.payloadText));
    await queue.startWorker({ tasks: [task], fastLane, concurrency: 20, pollIntervalMs: NEVER_MS });
    // The end of a first job shows that the worker has begun to fetch in this lane.
    await queue.utils.addJob("sized", 0);
    await waitUntil("the first job has run", async () => (await queue.remaining()).length === 0);
    seen.length = 0;
    await queue.utils.addJobs(
      texts.map((text) => ({ identifier: "sized", payload: rawJson(text) })),
    );
    await waitUntil("all jobs have run", () => seen.length === texts.length);
    assert.ok(texts.every((text) => seen.includes(text)));
  });
}

describe("From inside a job", () => {
  test("each call returns its own job, and a payload is stored as it was at the call.", async () => {
    const child = recordingTask<{ parent: number; n: number }>("child");
    const got: boolean[] = [];
    const parent = defineTask<number>("parent", async (number, { addJob }) => {
      const payload = { parent: number, n: 0 };
      const calls: Promise<Job | null>[] = [];
      for (; payload.n < 5; payload.n++) calls.push(addJob("child", payload));
      const jobs = await Promise.all(calls);
      const expected = [0, 1, 2, 3, 4].map((n) => ({ parent: number, n }));
      got.push(JSON.stringify(jobs.map((job) => job?.payload)) === JSON.stringify(expected));
    });
    await queue.utils.addJobs(
      Array.from({ length: 40 }, (_, n) => ({ identifier: "parent", payload: n })),
    );
    await worked([parent, child] as Task<never>[]);
    assert.deepEqual(
      got,
      Array.from({ length: 40 }, () => true),
    );
    assert.equal(new Set(child.seen.map((one) => JSON.stringify(one))).size, 200);
    assert.equal(child.seen.length, 200);
  });

  test("only the job that adds an invalid job fails.", async () => {
    const child = recordingTask("child");
    const parent = defineTask<number>("parent", async (number, { addJob }) => {
      await addJob("child", number, { priority: number === 7 ? 40_000 : 0 });
    });
    await queue.utils.addJobs(
      Array.from({ length: 20 }, (_, n) => ({ identifier: "parent", payload: n })),
    );
    await worked([parent, child] as Task<never>[]);
    assert.equal(child.seen.length, 19);
    const [left, ...more] = await queue.remaining();
    assert.deepEqual([left?.payload, more], ["7", []]);
    assert.match(left?.last_error ?? "", /spec\.priority: must be a whole number from -32768 to/);
  });

  test("a job that is added in a transaction exists if and only if the transaction commits.", async () => {
    const child = recordingTask<string>("child");
    const parent = defineTask<string>("parent", (end, { withPgClient }) =>
      withPgClient(async (client) => {
        const bound = queue.utils.with(client);
        await client.query("begin");
        await bound.addJob("child", `${end} one`);
        await bound.addJobs([{ identifier: "child", payload: `${end} many` }]);
        await bound.copyJobs([{ identifier: "child", payload: `${end} copied` }]);
        if (end === "throw") throw new Error("before the commit");
        await client.query(end);
      }),
    );
    for (const end of ["commit", "rollback", "throw"]) await queue.utils.addJob("parent", end);
    await worked([parent, child] as Task<never>[]);
    assert.deepEqual(child.seen.toSorted(), ["commit copied", "commit many", "commit one"]);
    assert.deepEqual(
      (await queue.remaining()).map(({ payload, attempts }) => [payload, attempts]),
      [['"throw"', 1]],
    );
  });
});
