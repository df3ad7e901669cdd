// Testing your tasks: run a task without a queue, run all ready jobs, wait for a job.
import assert from "node:assert/strict";
import { defineTask, makeWorkerUtils, run, runJobInline, runOnce, waitForJob } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();

const divide = defineTask<{ a: number; b: number }>("divide", ({ a, b }) => {
  if (b === 0) throw new Error("division by zero");
  return a / b > 100 ? "too much" : undefined;
});

assert.equal((await runJobInline(divide, { a: 1, b: 2 })).error, null);
assert.match((await runJobInline(divide, { a: 1, b: 0 })).error ?? "", /division by zero/);

await utils.addJob(divide, { a: 1, b: 2 });
await utils.addJob(divide, { a: 1, b: 0 });
// Runs all ready jobs and counts them.
console.log(await runOnce({ connectionString, tasks: [divide] }));

const worker = await run({ connectionString, tasks: [divide] });
const { id } = await utils.addJob(divide, { a: 4, b: 2 });
console.log(await waitForJob(utils, id));
await worker.stop();
