// The fast lane where its jobs outlast a transaction, and where a transaction fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { defineTask } from "../../src/worker/task.ts";
import { latch, recording, until, witness, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

const quick = recording("quick");

/** Makes the worker's first claim find nothing, which is when fast lanes begin. */
async function warmUp(): Promise<void> {
  await queue.utils.addJob("quick");
  await until("the fast lane runs", async () => (await queue.left()).length === 0);
}

const jobOf = async (id: string) => (await queue.left()).find((job) => job.id === id);

test("A job that fails while a later batch outlasts its time is counted then and afterwards.", async () => {
  const [first, second] = [latch(), latch()];
  const attempts: number[] = [];
  const failing = defineTask("failing", async (_, { job }) => {
    attempts.push(job.attempts);
    await first.opened;
    throw new Error("as expected");
  });
  const long = recording("long", () => {
    first.open();
    return second.opened;
  });
  const watch = witness("job:interrupted");
  await queue.started({
    tasks: [quick, failing, long],
    plugins: [watch],
    lanes: 1,
    pollInterval_ms: 20,
    fastLane: { limit_ms: 100 },
  });
  await warmUp();
  const { id } = await queue.utils.addJob("failing");
  await until("it has the classic lock", async () => (await jobOf(id))?.locked_by != null);
  await queue.utils.addJob("long");
  await until("its failure is written", async () => (await jobOf(id))?.locked_by === null);
  await queue.utils.rescheduleJobs([id], { runAt: new Date(0) });
  await until("it has failed again", async () => (await jobOf(id))?.attempts === 2);
  second.open();
  assert.deepEqual(attempts, [1, 2]);
  assert.deepEqual(watch.all("job:interrupted"), []);
});

test("A lane whose transaction has failed begins a new one.", async () => {
  const refused: string[] = [];
  const warn = (_: object, message: string) => void refused.push(message);
  const logger = { ...silentLogger, warn };
  await queue.started({ tasks: [quick], logger, pollInterval_ms: 20, fastLane: true });
  await warmUp();
  await queue.sql("alter table worker._private_tasks rename to away");
  await until("the lanes are refused", () => refused.includes("a fast lane starts over"));
  await queue.sql("alter table worker.away rename to _private_tasks");
  await warmUp();
});
