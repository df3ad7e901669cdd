// Tests when a worker fetches jobs, writes results, takes permits and gives jobs back while the jobs of a limited task
// run one after the other.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { defineTask } from "../../src/worker/task/task.ts";
import { migratedDatabase } from "../support/database.ts";
import { latch, recordingTask, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["limits"]));
afterEach(() => queue.sql("delete from worker._private_limits"));

const JOBS = 200;
const options = {
  concurrency: 4,
  recovery: { heartbeatIntervalMs: 500, thresholdMs: 5_000 },
} as const;

/**
 * Limits the task `limited` to one job at once, and adds jobs of the task. Returns the task, how many of its jobs run
 * and how many have ended (`seen`), and a function that waits until all have ended.
 */
async function oneByOne() {
  await queue.utils.setLimit({ name: "one", task: "limited", concurrency: 1 });
  const seen = { running: 0, done: 0 };
  const task = defineTask("limited", async () => {
    seen.running++;
    await sleep(2);
    seen.running--;
    seen.done++;
  });
  await queue.utils.addJobs(Array.from({ length: JOBS }, () => ({ identifier: "limited" })));
  const allHaveRun = () => waitUntil("all jobs have run", () => seen.done === JOBS);
  return { task, seen, allHaveRun };
}

test("Jobs are fetched ahead while the only permit of their limit is in use.", async () => {
  const { task, seen, allHaveRun } = await oneByOne();
  const worker = queue.worker({ tasks: [task], ...options });
  let [fetches, ahead] = [0, 0];
  worker.hooks.on("job:fetch", ({ count }) => {
    if (count === 0) return;
    fetches++;
    ahead += seen.running;
  });
  await worker.start();
  await allHaveRun();
  assert.ok(ahead > fetches / 2, `a job was running at ${ahead} of ${fetches} fetches`);
});

test("Results are written at most once in 25 ms, except together with fetches.", async () => {
  const { task, allHaveRun } = await oneByOne();
  const worker = queue.worker({ tasks: [task], ...options });
  let [completed, writes, fetches, isSameWrite] = [0, 0, 0, false];
  worker.hooks.on("job:fetch", () => void fetches++);
  worker.hooks.on("job:complete", ({ result }) => {
    if (result === "completed") completed++;
    if (!isSameWrite) writes++;
    isSameWrite = true;
    setImmediate(() => {
      isSameWrite = false;
    });
  });
  const startMs = performance.now();
  await worker.start();
  await allHaveRun();
  await waitUntil("all results are written", () => completed === JOBS);
  const most = (performance.now() - startMs) / 25 + fetches + 1;
  assert.ok(writes <= most, `${writes} writes, ${most.toFixed(1)} expected at most`);
});

test("A worker takes no permits for a task without jobs, however busy its connections are.", async () => {
  const { task, allHaveRun } = await oneByOne();
  const others = Array.from({ length: 4 }, (_, n) => recordingTask(`other${n}`));
  for (const { identifier } of others) {
    await queue.utils.setLimit({ name: identifier, task: identifier, concurrency: 5 });
  }
  await queue.startWorker({ tasks: [task, ...others], ...options, pollIntervalMs: 20 });
  await allHaveRun();
  const taken = await queue.sql(
    "select distinct l.name from worker._private_limit_permits p join worker._private_limits l on l.id = p.limit_id",
  );
  assert.deepEqual(taken, [{ name: "one" }]);
});

test("Jobs that were fetched ahead are given back within two seconds while the only permit stays in use.", async () => {
  await queue.utils.setLimit({ name: "one", task: "limited", concurrency: 1 });
  const gate = latch();
  const task = recordingTask<number>("limited", (n) => (n === JOBS ? gate.opened : undefined));
  await queue.startWorker({ tasks: [task], ...options });
  await queue.utils.addJobs(
    Array.from({ length: JOBS + 50 }, (_, payload) => ({ identifier: "limited", payload })),
  );
  await waitUntil("the long job runs", () => task.seen.includes(JOBS));
  const locked = async () => (await queue.remaining()).filter((job) => job.locked_by !== null);
  await waitUntil("only running jobs are locked", async () => (await locked()).length === 1, 2_000);
  gate.open();
  await waitUntil("all jobs have run", async () => (await queue.remaining()).length === 0);
  assert.equal(new Set(task.seen).size, JOBS + 50);
});
