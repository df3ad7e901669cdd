// Tests that the utils of a worker, and the utils that its tasks get, use the worker's pool and interceptors.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Job } from "../../src/domain/job.ts";
import type { WorkerUtils } from "../../src/utils/worker-utils.ts";
import type { Plugin } from "../../src/worker/task/hooks.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { waitFor, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();
const later = { runAt: new Date("2031-01-01T00:00:00Z") };

/** Adds a tenant to the payload of jobs; skips or refuses jobs with certain payloads. */
const policy: Plugin = {
  name: "policy",
  register(hooks) {
    hooks.intercept("beforeJobSchedule", (job) => {
      const { word } = job.payload as { word: string };
      if (word === "skip") return { action: "skip" };
      if (word === "refuse") return { action: "fail", message: "not this one" };
      return { action: "change", job: { ...job, payload: { word, tenant: "acme" } } };
    });
  },
};

const stored = defineTask<{ word: string }>("stored", () => {});
const payloads = async () => (await queue.remaining()).map(({ payload }) => JSON.parse(payload));

type Utils = WorkerUtils<Job | null>;

/** Each function calls `use` with the utils of a worker with the plugin `policy`, or with those that its task gets. */
const sources: Record<string, (use: (utils: Utils) => Promise<void>) => Promise<void>> = {
  "a worker": async (use) => {
    const worker = queue.worker({ tasks: [stored], plugins: [policy] });
    await use(worker.utils);
  },
  "a task": async (use) => {
    const used = Promise.withResolvers<void>();
    const task = defineTask("task", (_, { utils }) => use(utils).then(used.resolve, used.reject));
    await queue.utils.addJob("task");
    await queue.startWorker({ tasks: [task], plugins: [policy] });
    await waitFor("the task", used.promise);
    await waitUntil("the job is deleted", async () =>
      (await queue.remaining()).every(({ attempts }) => attempts < 1),
    );
  },
};

for (const [whose, withUtils] of Object.entries(sources)) {
  describe(`The utils of ${whose}`, () => {
    test("add jobs through the worker's interceptors with addJob(), addJobs() and copyJobs().", async () => {
      await withUtils(async (utils) => {
        await utils.addJob(stored, { word: "one" }, later);
        await utils.addJobs([
          { task: stored, payload: { word: "two" }, spec: later },
          { identifier: "stored", payload: { word: "skip" }, spec: later },
          { identifier: "stored", payload: { word: "three" }, spec: later },
        ]);
        const copied = await utils.copyJobs([
          { identifier: "stored", payload: { word: "skip" }, spec: later },
          { task: stored, payload: { word: "four" }, spec: later },
        ]);
        assert.equal(copied, 1);
        assert.equal(await utils.addJob(stored, { word: "skip" }), null);
        const message = "not this one";
        await assert.rejects(utils.addJob(stored, { word: "refuse" }), { message });
        const refused = [{ task: stored, payload: { word: "refuse" } }];
        await assert.rejects(utils.addJobs(refused), { message });
        await assert.rejects(utils.copyJobs(refused), { message });
      });
      const words = ["one", "two", "three", "four"];
      assert.deepEqual(
        await payloads(),
        words.map((word) => ({ word, tenant: "acme" })),
      );
    });

    test("add jobs through the interceptors in a transaction of the caller, which can be rolled back.", async () => {
      await withUtils(async (utils) => {
        const client = await queue.pool.connect();
        try {
          await client.query("begin");
          const inside = utils.with(client);
          assert.equal(await inside.addJob(stored, { word: "skip" }), null);
          const job = await inside.addJob(stored, { word: "one" }, later);
          assert.equal(job?.payloadText, '{"word":"one","tenant":"acme"}');
          assert.equal((await inside.getJob(job?.id ?? ""))?.id, job?.id);
          await client.query("rollback");
        } finally {
          client.release();
        }
      });
      assert.deepEqual(await payloads(), []);
    });
  });
}

test("Ending a worker's utils does not end the worker's pool: the utils can still add, list and complete jobs.", async () => {
  const worker = await queue.startWorker({ tasks: [stored] });
  const { utils } = worker;
  await utils.end();
  await utils[Symbol.asyncDispose]();
  const job = await utils.addJob(stored, { word: "one" }, later);
  assert.deepEqual(
    (await utils.listJobs()).jobs.map(({ id }) => id),
    [job?.id],
  );
  assert.equal(utils.schema, "worker");
  assert.equal((await utils.completeJobs([job?.id ?? ""])).length, 1);
});

test("Without an interceptor, a payload is stored as it was when addJob() was called.", async () => {
  const { utils } = queue.worker({ tasks: [stored] });
  const payload = { word: "before" };
  const added = utils.addJob(stored, payload, later);
  payload.word = "after";
  assert.equal((await added)?.payloadText, '{"word":"before"}');
});
