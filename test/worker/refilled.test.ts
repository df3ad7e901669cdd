// Tests a worker whose tables are emptied and refilled while it runs, as test suites and restores do. After a refill,
// the same ids belong to other tasks, queues and jobs.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { latch, recordingTask, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();
const NEVER_MS = 3_600_000;

const refill = () =>
  queue.sql(`truncate worker._private_jobs, worker._private_tasks, worker._private_job_queues
    restart identity cascade`);

for (const fastLane of [false, true]) {
  for (const pollIntervalMs of [50, NEVER_MS]) {
    const name = fastLane ? "fast lane" : "safe mode";
    const how = pollIntervalMs === NEVER_MS ? "notification" : "poll";
    describe(`In the ${name}, when the jobs of refilled tables are found after a ${how},`, () => {
      test("each job runs in the handler of its own task.", async () => {
        const tasks = ["charge", "refund", "third"].map((one) => recordingTask<string>(one));
        const seen = () => tasks.flatMap((one) => one.seen.map((of) => `${one.identifier} ${of}`));
        const run = async (identifiers: string[], spec = {}) => {
          const before = seen().length;
          for (const one of identifiers) await queue.utils.addJob(one, one, spec);
          await waitUntil("all jobs have run", async () => {
            return (
              seen().length === before + identifiers.length && !(await queue.remaining()).length
            );
          });
        };
        await queue.startWorker({ tasks, fastLane, pollIntervalMs, concurrency: 3 });
        await run(["charge", "refund", "third"]);
        await refill();
        await run(["third", "refund", "charge"]);
        await refill();
        await run(["refund", "charge", "third"], { queueName: "q", jobKey: undefined });
        assert.deepEqual(
          seen().filter((one) => one.split(" ")[0] !== one.split(" ")[1]),
          [],
        );
      });
    });
  }
}

for (const fastLane of [false, true]) {
  test(`When a job that started before a refill ends, the new queue that now has the id of the job's queue is not unlocked, fast lane: ${fastLane}.`, async () => {
    const [old, gate] = [latch(), latch()];
    const held = recordingTask("held", () => old.opened);
    const task = recordingTask<number>("task", () => gate.opened);
    const quick = recordingTask("quick");
    const tasks = [held, task, quick];
    await queue.startWorker({ tasks, fastLane, pollIntervalMs: 50, concurrency: 5 });
    await queue.utils.addJob("held", {}, { queueName: "old" });
    await waitUntil("the job of the old queue runs", () => held.seen.length === 1);
    await refill();
    for (let n = 0; n < 4; n++) await queue.utils.addJob("task", n, { queueName: "new" });
    await waitUntil("the first job of the new queue runs", () => task.seen.length === 1);
    old.open();
    // Two more jobs run, one after the other. When the second of them is done, the worker has written the result of
    // the old job, and has fetched again after that.
    for (let n = 1; n <= 2; n++) {
      await queue.utils.addJob("quick");
      await waitUntil("another job is done", async () => {
        return quick.seen.length === n && (await queue.remaining()).length === 4;
      });
    }
    assert.deepEqual(task.seen, [0]);
    gate.open();
    await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
    assert.deepEqual(task.seen, [0, 1, 2, 3]);
  });
}
