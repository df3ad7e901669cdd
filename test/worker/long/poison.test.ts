// Tests a job that kills each worker process that runs it. In the safe mode the attempt is counted before the job
// starts. In the fast mode the process is killed before the attempt is counted. But the row lock leaves a mark in the
// job's row, and jobs with this mark are left to the safe mode.
import assert from "node:assert/strict";
import { test } from "node:test";
import { testQueue } from "../../queue/queue-database.ts";
import { jobsOf } from "../recovery-jobs.ts";
import { QUICK, waitUntil, workerProcess } from "../worker-process.ts";

const queue = testQueue();
const { add, job } = jobsOf(queue);

for (const fastLane of [false, true]) {
  const kind = fastLane ? "fast" : "safe";
  test(`A job that kills each worker that runs it kills at most max_attempts + 1 workers (${kind}).`, async () => {
    const options = { fastLane, recovery: QUICK, pollIntervalMs: 100 };
    const fleet = await Promise.all([1, 2, 3, 4, 5].map(() => workerProcess(queue.url, options)));
    let deaths = 0;
    for (const { exited } of fleet) void exited.then(() => deaths++);
    const spec = { maxAttempts: 2 };
    // The jobs of the task `quick` may be fetched together with `poison`. They cause no crash, and all must be done.
    const poison = await add("poison", {}, spec);
    const others: { readonly id: string }[] = [];
    for (let n = 0; n < 20; n++) others.push(await add("quick"));
    await waitUntil("the job has no attempts left", async () => {
      const left = await job(poison.id);
      return left?.locked_by === null && left.attempts === 2;
    });
    await waitUntil("the other jobs are done", async () => {
      for (const { id } of others) if ((await job(id)) !== undefined) return false;
      return true;
    });
    assert.ok(deaths <= 3, `${deaths} workers have died`);
    await queue.sql("delete from worker._private_jobs");
  });
}
