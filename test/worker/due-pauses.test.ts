// A pause whose time is over and that remains because a job of its queue is running.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { ControlWatch } from "../../src/worker/control-watch.ts";
import { migratedDatabase } from "../support/database.ts";
import { waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["controls"]));

test("A pause is not read for each run of another queue that ends, and it ends soon after its job.", async (t) => {
  let reads = 0;
  let ends = 0;
  const { database } = queue.utils;
  const watch = new ControlWatch({
    limits: { read: async () => {} },
    patient: database,
    logger: silentLogger,
    database: () => {
      reads++;
      return database;
    },
    returnUnstarted: async () => {},
    ...{ wake: () => void ends++, jobs: () => [], cancel: () => false, acknowledge: () => {} },
  });
  await queue.utils.addJob("task", {}, { queueName: "q" });
  await queue.sql("update worker._private_jobs set locked_by = 'another', locked_at = now()");
  await queue.sql("update worker._private_job_queues set locked_by = 'another', locked_at = now()");
  await queue.utils.pauseQueue("q", { resumeAt: new Date(Date.now() + 60_000) });
  await queue.sql("update worker._private_pauses set resume_at = now()");
  await watch.start(database);
  t.after(() => watch.stop());
  const runs = setInterval(() => watch.queueFreed(), 1);
  t.after(() => clearInterval(runs));
  await waitUntil("it is read", () => reads > 0);
  const before = reads;
  await queue.sql("select pg_sleep(1)");
  assert.ok(reads - before <= 10, `${reads - before} times in a second`);
  const wakes = ends;
  await queue.sql("delete from worker._private_jobs");
  await waitUntil("it has ended", () => ends > wakes, 1_500);
  assert.deepEqual(await queue.sql("select from worker._private_pauses"), []);
});
