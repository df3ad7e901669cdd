// In the tests of an application: run a task without a queue, work a queue off, wait for a job.
import assert from "node:assert/strict";
import { defineTask, drainQueue, makeWorkerUtils, run, runJobInline, waitForJob } from "worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });

const divide = defineTask<{ a: number; b: number }>("divide", ({ a, b }) => {
  if (b === 0) throw new Error("division by zero");
  return a / b > 100 ? "too much" : undefined;
});

assert.equal((await runJobInline(divide, { a: 1, b: 2 })).error, null);
assert.match((await runJobInline(divide, { a: 1, b: 0 })).error ?? "", /division by zero/);

await utils.addJob("divide", { a: 1, b: 2 });
await utils.addJob("divide", { a: 1, b: 0 });
console.log(await drainQueue({ connectionString, tasks: [divide] }));

const worker = await run({ connectionString, tasks: [divide] });
const { id } = await utils.addJob("divide", { a: 4, b: 2 });
console.log(await waitForJob(utils, id));
await worker.stop();
