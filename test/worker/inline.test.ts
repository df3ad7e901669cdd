// Tests runJobInline(). With this function, the tests of an application run a task without a queue.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { WorkerError } from "../../src/base/errors.ts";
import { defineBatchTask, defineTask } from "../../src/worker/task/task.ts";
import type { TaskContext } from "../../src/worker/task/task-context.ts";
import { runJobInline } from "../../src/worker/testing.ts";

/** Runs a task that makes the call, and returns the error with which the call rejects. */
async function refusal(call: (context: TaskContext) => Promise<unknown>): Promise<unknown> {
  let thrown: unknown;
  const task = defineTask("task", async (_, context) => {
    thrown = await call(context).then(
      () => "nothing was thrown",
      (error: unknown) => error,
    );
  });
  assert.equal((await runJobInline(task, {})).error, null);
  return thrown;
}

test("Without a pool every query rejects with advice to pass one.", async () => {
  const calls: ((context: TaskContext) => Promise<unknown>)[] = [
    ({ query }) => query("select 1"),
    ({ withPgClient }) => withPgClient(() => Promise.resolve()),
    ({ pool }) => pool.query("select 1"),
    ({ pool }) => pool.connect(),
    ({ utils }) => utils.getJob("1"),
    ({ utils }) => utils.copyJobs([{ identifier: "other" }]),
  ];
  for (const call of calls) {
    const error = await refusal(call);
    assert.ok(error instanceof WorkerError, String(error));
    assert.equal(error.code, "configuration");
    assert.match(error.message, /has no pool: use runJobInline\(task, payload, \{ pool \}\)/);
  }
});

test("An invalid option is refused before the task runs.", async () => {
  const task = defineTask("task", () => assert.fail("the task ran"));
  for (const [options, message] of [
    [{ attempts: 0 }, /attempts/],
    [{ attempts: 1.5 }, /attempts/],
    [{ maxAttempts: 40_000 }, /maxAttempts/],
    [{ attempt: 2 } as object, /attempt: .*attempts/],
  ] as const) {
    await assert.rejects(runJobInline(task, {}, options), message);
  }
});

test("The jobs that a task adds by addJob() and addJobs() are listed in the result and not stored.", async () => {
  const elsewhere = new pg.Client();
  const other = defineTask<{ n: number }>("other", () => {});
  const task = defineTask("task", async (_, { addJob, addJobs, utils }) => {
    assert.equal(await addJob(other, { n: 1 }, { jobKey: "k" }), null);
    assert.deepEqual(await addJobs([{ task: other, payload: { n: 2 } }]), []);
    assert.equal(await utils.with(elsewhere).addJob("by name"), null);
    return "" as const;
  });
  const { error, added } = await runJobInline(task, {});
  assert.equal(error, null);
  assert.deepEqual(added, [
    { identifier: "other", payload: { n: 1 }, spec: { jobKey: "k" } },
    { identifier: "other", payload: { n: 2 } },
    { identifier: "by name" },
  ]);
});

test("If a task adds an invalid job, the add rejects as it does in a worker.", async () => {
  const task = defineTask("task", (_, { addJob }) => addJob("other", 1, { priority: 40_000 }));
  const { error, added } = await runJobInline(task, {});
  assert.match(error ?? "", /spec\.priority: must be a whole number/);
  assert.deepEqual(added, []);
});

test("The value is what the handler returns or resolves to; undefined if the handler throws or exceeds its time limit.", async () => {
  const given = async (handler: () => unknown, timeoutMs?: number) =>
    (await runJobInline(defineTask("t", handler, { timeoutMs }), {})).value;
  assert.deepEqual(await given(() => ({ sum: 3 })), { sum: 3 });
  assert.equal(await given(async () => 9007199254740993n), 9007199254740993n);
  assert.equal(await given(() => Promise.reject(new Error("no"))), undefined);
  const late = Promise.withResolvers<string>();
  assert.equal(await given(() => late.promise, 1), undefined);
  let awaited = 0;
  // biome-ignore lint/suspicious/noThenProperty: an object with a method `then`, as query builders have it
  const lazy = { then: (done: (value: number) => void) => done(++awaited) };
  assert.equal(await given(() => lazy), 1);
  const batch = defineBatchTask<number>("batch", (items) => items.map((n) => n * 2));
  assert.deepEqual((await runJobInline(batch, [1, 2])).value, [2, 4]);
});

test("The error, the remaining payload and the next attempt are those that a worker would write.", async () => {
  const fails = defineTask<string>("fails", (how) => how);
  const outcome = await runJobInline(fails, "no");
  assert.deepEqual(outcome, {
    value: "no",
    added: [],
    error: "no",
    remainingPayload: null,
    next: { kind: "retry", delayMs: null },
  });
  const batch = defineBatchTask<number>("batch", (items) => items.map((n) => n > 1 && `${n}!`));
  const { error, remainingPayload } = await runJobInline(batch, [1, 2, 3]);
  assert.match(error ?? "", /2 of 3 items failed/);
  assert.equal(remainingPayload, "[2,3]");
  const known = defineTask("known", (_, { job, workerId, extensions }) =>
    JSON.stringify([job.attempts, job.maxAttempts, workerId, extensions]),
  );
  const options = { attempts: 3, maxAttempts: 4, extensions: { a: 1 } };
  assert.equal((await runJobInline(known, {}, options)).error, '[3,4,"inline",{"a":1}]');
});

test("A task that completes its job in a transaction has no error unless it throws.", async () => {
  const sent: string[] = [];
  const completing = (end: () => unknown) =>
    defineTask("t", async (_, { completeIn }) => {
      await completeIn({ query: async ({ text }) => void sent.push(text) as never });
      return end();
    });
  const { error, next, value } = await runJobInline(
    completing(() => 1),
    {},
  );
  assert.deepEqual({ error, next, value, sent }, { error: null, next: null, value: 1, sent: [] });
  const failing = completing(() => Promise.reject(new Error("the commit failed")));
  assert.match((await runJobInline(failing, {})).error ?? "", /^Error: the commit failed/);
});
