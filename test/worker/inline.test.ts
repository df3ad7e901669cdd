// A task that is run without a queue, as the tests of applications do it.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { WorkerError } from "../../src/base/errors.ts";
import { defineBatchTask, defineTask } from "../../src/worker/task/task.ts";
import type { TaskContext } from "../../src/worker/task/task-context.ts";
import { runJobInline } from "../../src/worker/testing.ts";

/** What the task's own call comes to, as the task sees it. */
async function refusal(call: (context: TaskContext) => Promise<unknown>): Promise<unknown> {
  let thrown: unknown;
  const task = defineTask("task", async (_, context) => {
    thrown = await call(context).then(
      () => "nothing was thrown",
      (error: unknown) => error,
    );
  });
  assert.deepEqual(await runJobInline(task, {}), { error: null, payloadLeft: null });
  return thrown;
}

test("Without a pool every query says that one is missing, and how to give it.", async () => {
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
    assert.match(
      error.message,
      /given no pool to query: runJobInline\(task, payload, \{ pool \}\)/,
    );
  }
});

test("There is no queue to add jobs to, whichever way a task takes.", async () => {
  const elsewhere = new pg.Client();
  const calls: ((context: TaskContext) => Promise<unknown>)[] = [
    ({ addJob }) => addJob("other"),
    ({ addJobs }) => addJobs([{ identifier: "other" }]),
    ({ utils }) => utils.with(elsewhere).addJob("other"),
  ];
  for (const call of calls) {
    assert.match(String(await refusal(call)), /runJobInline has no queue to add jobs to/);
  }
});

test("The result is what a worker would write.", async () => {
  const fails = defineTask<string>("fails", (how) => how);
  const outcome = await runJobInline(fails, "no");
  assert.deepEqual(outcome, { error: "no", payloadLeft: null });
  const batch = defineBatchTask<number>("batch", (items) => items.map((n) => n > 1 && `${n}!`));
  const { error, payloadLeft } = await runJobInline(batch, [1, 2, 3]);
  assert.match(error ?? "", /2 of 3 items failed/);
  assert.equal(payloadLeft, "[2,3]");
  const known = defineTask("known", (_, { job, workerId, extensions }) =>
    JSON.stringify([job.attempts, job.maxAttempts, workerId, extensions]),
  );
  const options = { attempts: 3, maxAttempts: 4, extensions: { a: 1 } };
  assert.equal((await runJobInline(known, {}, options)).error, '[3,4,"inline",{"a":1}]');
});
