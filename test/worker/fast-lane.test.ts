// The fast lane: what it holds by row locks, and what gets the classic lock because it takes longer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTask } from "../../src/worker/task.ts";
import { latch, until, witness, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

test("A job that has outlived its transaction and ends during the next one is free of it for good.", async () => {
  const [failing, over] = [latch(), latch()];
  const attempts: number[] = [];
  const fickle = defineTask("fickle", async (_, { job }) => {
    attempts.push(job.attempts);
    if (job.attempts > 1) return;
    await failing.opened;
    throw new Error("the first time");
  });
  // Runs into the limit in its turn, and lets the other one end before that.
  const second = defineTask("second", () => {
    failing.open();
    return over.opened;
  });
  const saw = witness("job:fetch", "job:fail", "job:complete", "job:interrupted");
  const { id: workerId } = await queue.started({
    tasks: [fickle, second],
    fastLane: { limit_ms: 20 },
    lanes: 1,
    plugins: [saw],
  });
  const lockedBy = async (place: number) => (await queue.left())[place]?.locked_by;
  await saw.saw("job:fetch");
  await queue.utils.addJob("fickle");
  await until("the first has the classic lock", async () => (await lockedBy(0)) === workerId);
  await queue.utils.addJob("second");
  await until("the second has it, too", async () => (await lockedBy(1)) === workerId);
  await saw.saw("job:fail");
  await until("the failure is written", async () => (await lockedBy(0)) === null);
  await queue.sql(`update worker._private_jobs set run_at = now() where locked_by is null`);
  await queue.sql(`select pg_notify('jobs:insert', '')`);
  await saw.saw("job:complete");
  await until("it is gone", async () => (await queue.left()).length === 1);
  over.open();
  await until("the second is gone, too", async () => (await queue.left()).length === 0);
  assert.deepEqual(attempts, [1, 2]);
  assert.deepEqual(saw.all("job:interrupted"), []);
});
