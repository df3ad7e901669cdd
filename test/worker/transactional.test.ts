// Tests tasks that complete their job in the transaction in which they make their changes, so that the changes are made
// exactly once.
import assert from "node:assert/strict";
import { once } from "node:events";
import { beforeEach, describe, test } from "node:test";
import type { PoolClient } from "pg";
import type { WorkerError } from "../../src/base/errors.ts";
import type { WorkerOptions } from "../../src/worker/options/worker-options.ts";
import type { Plugin } from "../../src/worker/task/hooks.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { defineTransactionalTask } from "../../src/worker/task/transactional-task.ts";
import { latch, waitFor, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

beforeEach(async () => {
  await queue.sql("create table if not exists effects (job_id bigint not null)");
  await queue.sql("truncate effects");
});

const effects = async () =>
  (
    await queue.sql<{ job_id: string }>("select job_id::text from effects order by effects.job_id")
  ).map(({ job_id }) => job_id);

const modes: readonly (readonly [string, Partial<WorkerOptions>])[] = [
  ["safe mode", {}],
  ["fast lane", { fastLane: { limitMs: 2_000 } }],
];

function recorded() {
  const events: string[] = [];
  const plugin: Plugin = {
    name: "events",
    register(hooks) {
      hooks.on(
        "job:complete",
        ({ result, error }) => void events.push(`${result} ${error ?? ""}`.trim()),
      );
      hooks.on("job:interrupted", ({ reason }) => void events.push(`interrupted ${reason}`));
    },
  };
  return { events, plugin };
}

for (const [mode, options] of modes) {
  describe(`In the ${mode}`, () => {
    test("a transactional task's effects and the completion of its job are one transaction.", async () => {
      const { events, plugin } = recorded();
      const task = defineTransactionalTask("pay", async (_, { job }, client) => {
        await client.query("insert into effects values ($1)", [job.id]);
      });
      const jobs = await queue.utils.addJobs(
        Array.from({ length: 20 }, (_, n) => ({ identifier: "pay", payload: { n } })),
      );
      const worker = await queue.startWorker({ tasks: [task], plugins: [plugin], ...options });
      await waitUntil("all jobs have ended", () => events.length === 20);
      await worker.stop();
      assert.deepEqual(await queue.remaining(), []);
      assert.deepEqual(
        await effects(),
        jobs.map(({ id }) => id),
      );
      assert.deepEqual(new Set(events), new Set(["completed"]));
    });

    test("a handler that fails leaves no effect, and its job is retried.", async () => {
      const { events, plugin } = recorded();
      const task = defineTransactionalTask("pay", async (_, { job }, client) => {
        await client.query("insert into effects values ($1)", [job.id]);
        throw new Error("declined");
      });
      await queue.utils.addJob("pay", {});
      const worker = await queue.startWorker({ tasks: [task], plugins: [plugin], ...options });
      await waitUntil("the attempt has failed", () => events.length === 1);
      await worker.stop();
      const [left] = await queue.remaining();
      assert.equal(left?.attempts, 1);
      assert.match(left?.last_error ?? "", /^Error: declined/);
      assert.deepEqual(await effects(), []);
    });

    test("an attempt whose transaction is not committed fails, and its job stays.", async () => {
      const { events, plugin } = recorded();
      const task = defineTask("pay", async (_, { withPgClient, completeIn }) => {
        await withPgClient(async (client) => {
          await client.query("begin");
          await completeIn(client);
          await client.query("rollback");
        });
      });
      await queue.utils.addJob("pay", {});
      const worker = await queue.startWorker({ tasks: [task], plugins: [plugin], ...options });
      await waitUntil("the attempt has failed", () => events.length === 1);
      await worker.stop();
      const [left] = await queue.remaining();
      assert.equal(left?.attempts, 1);
      assert.equal(left?.locked_by, null);
      assert.match(left?.last_error ?? "", /was not committed/);
    });

    test("an error after the commit does not bring the job back.", async () => {
      const { events, plugin } = recorded();
      const task = defineTask("pay", async (_, { withPgClient, completeIn }) => {
        await withPgClient(async (client) => {
          await client.query("begin");
          await completeIn(client);
          await client.query("commit");
        });
        throw new Error("too late");
      });
      await queue.utils.addJob("pay", {});
      const worker = await queue.startWorker({ tasks: [task], plugins: [plugin], ...options });
      await waitUntil("the job has ended", () => events.length === 1);
      await worker.stop();
      assert.deepEqual(await queue.remaining(), []);
      assert.deepEqual(events, ["completed"]);
    });
  });
}

test("A job whose time limit passes between completeIn() and the commit is completed by the commit.", async () => {
  const { events, plugin } = recorded();
  const failures: string[] = [];
  const task = defineTask(
    "pay",
    async (_, { job, withPgClient, completeIn, signal }) => {
      await withPgClient(async (client) => {
        await client.query("begin");
        await client.query("insert into effects values ($1)", [job.id]);
        await completeIn(client);
        if (!signal.aborted) await once(signal, "abort");
        await client.query("commit");
      });
    },
    { timeoutMs: 500 },
  );
  const { id } = await queue.utils.addJob("pay", {});
  const worker = await queue.startWorker({ tasks: [task], plugins: [plugin] });
  worker.hooks.on("job:error", ({ error }) => void failures.push(error.message));
  await waitUntil("the job has ended", () => events.length === 1);
  await worker.stop();
  assert.deepEqual(failures, []);
  assert.deepEqual(events, ["completed"]);
  assert.deepEqual(await effects(), [id]);
});

test("A transaction cannot complete a job whose lock was lost.", async () => {
  const { events, plugin } = recorded();
  const task = defineTransactionalTask("pay", async (_, { job }, client) => {
    await client.query("insert into effects values ($1)", [job.id]);
    await queue.sql(`update worker._private_jobs set locked_by = 'another' where id = ${job.id}`);
  });
  await queue.utils.addJob("pay", {});
  const worker = await queue.startWorker({ tasks: [task], plugins: [plugin] });
  await waitUntil("the loss of the lock is reported", () => events.length === 1);
  await worker.stop();
  assert.deepEqual(events, ["interrupted lease_lost"]);
  assert.deepEqual(await effects(), []);
  assert.equal((await queue.remaining())[0]?.locked_by, "another");
});

test("A job cannot be completed outside a transaction.", async () => {
  const refusals: unknown[] = [];
  const task = defineTask("pay", async (_, { pool, withPgClient, completeIn }) => {
    refusals.push(await completeIn(pool).catch((error) => error.message));
    refusals.push(await withPgClient(completeIn).catch((error) => error.message));
    refusals.push(await completeIn(undefined as never).catch((error) => error.message));
    throw new Error("declined");
  });
  await queue.utils.addJob("pay", {});
  const { events, plugin } = recorded();
  const worker = await queue.startWorker({ tasks: [task], plugins: [plugin] });
  await waitUntil("the attempt has failed", () => events.length === 1);
  await worker.stop();
  assert.equal((await queue.remaining()).length, 1);
  const needs = /^completeIn\(\) needs a client in a transaction/;
  assert.match(String(refusals[0]), needs);
  assert.match(String(refusals[1]), needs);
  assert.match(String(refusals[2]), /must be a client of pg/);
});

test("After a transactional task has completed a job of a named queue, the next job of the queue starts.", async () => {
  const { events, plugin } = recorded();
  const task = defineTransactionalTask("pay", async (_, { job }, client) => {
    await client.query("insert into effects values ($1)", [job.id]);
  });
  for (let n = 0; n < 3; n++) await queue.utils.addJob("pay", {}, { queueName: "line" });
  const worker = await queue.startWorker({ tasks: [task], plugins: [plugin] });
  await waitUntil("all jobs have ended", () => events.length === 3);
  await worker.stop();
  assert.equal((await effects()).length, 3);
});

test("A transaction cannot complete a job whose lock was lost with the connection of its fast lane.", async () => {
  const signals: AbortSignal[] = [];
  const [again, ended] = [latch(), latch()];
  let refusal: unknown;
  const task = defineTask("pay", async (_, { signal, withPgClient, completeIn }) => {
    if (signals.push(signal) > 1) return;
    await again.opened;
    const complete = async (client: PoolClient) => {
      await client.query("begin");
      await completeIn(client);
    };
    await withPgClient(complete).catch((error) => {
      refusal = error;
    });
    ended.open();
  });
  await queue.startWorker({
    ...{ tasks: [task], connections: 1, pollIntervalMs: 60_000 },
    fastLane: { limitMs: 500 },
  });
  await queue.utils.addJob("pay");
  await waitUntil("the fast lane runs the job", () => signals.length === 1);
  const [lost] = await queue.sql<{ pid: number }>(`select pid, pg_terminate_backend(pid)
    from pg_stat_activity where state = 'idle in transaction' and datname = current_database()`);
  await waitUntil(
    "the safe mode has run the job again",
    async () => (await queue.remaining()).length === 0,
  );
  const others = `select from pg_stat_activity where application_name = 'worker fast lane'
    and datname = current_database() and pid <> ${lost?.pid}`;
  await waitUntil(
    "the fast lane has connected again",
    async () => (await queue.sql(others)).length > 0,
  );
  again.open();
  await waitFor("the answer of completeIn()", ended.opened);
  assert.equal((refusal as WorkerError).code, "conflict");
});
