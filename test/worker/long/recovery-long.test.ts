// Jobs that run for hours on a live worker: resets of old locks do not unlock them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTask } from "../../../src/worker/task/task.ts";
import { Worker } from "../../../src/worker/worker.ts";
import { lockJob, testQueue } from "../../queue/queue-database.ts";
import { jobsOf } from "../recovery-jobs.ts";
import { QUICK, workerProcess } from "../worker-process.ts";
import { latch, waitUntil } from "../worker-queue.ts";

const queue = testQueue();
const { add, isGone, job } = jobsOf(queue);

/** Returns a worker, the ids of the jobs that its task `long` has started, and the latch that ends these jobs. */
function longWorker(recovery: object) {
  const end = latch();
  const started: string[] = [];
  const long = defineTask("long", async (_, { job: { id } }) => {
    started.push(id);
    await end.opened;
  });
  const quick = defineTask("quick", () => {});
  const options = { connectionString: queue.url, recovery: { ...QUICK, ...recovery } };
  return { worker: new Worker({ tasks: [long, quick], ...options }), started, end };
}

test("A job that has run for 5 hours on a live worker is not started a second time.", async () => {
  const { worker, started, end } = longWorker({ resetLocksIntervalMs: 100 });
  await using _ = worker;
  const { id } = await add("long", {}, { queueName: "line" });
  await worker.start();
  await waitUntil("the job runs", () => started.length > 0);
  const ago = "locked_at = now() - interval '5 hours'";
  await queue.sql(`update worker._private_job_queues set ${ago}`);
  await queue.sql(`update worker._private_jobs set ${ago}`);
  // Once a Graphile worker's lock of the same age has been reset, the 4-hour rule has been applied.
  const stock = await add("quick");
  await lockJob(queue, stock.id, "stock-worker", "5 hours");
  await waitUntil("the Graphile worker's job is done", () => isGone(stock.id));
  assert.equal((await job(id))?.locked_by, worker.id);
  const [line] = await queue.sql("select locked_by from worker._private_job_queues");
  assert.equal(line?.["locked_by"], worker.id);
  end.open();
  await waitUntil("the long job is done", () => isGone(id));
  assert.deepEqual(started, [id]);
});

test("A worker renews the locks of long jobs and of their queue before the locks are old enough to be reset.", async () => {
  const { worker, started, end } = longWorker({ staleLockThresholdMs: 1_000 });
  await using _ = worker;
  const ids = [
    (await add("long", {}, { queueName: "line" })).id,
    (await add("long", {}, { queueName: "line" })).id,
  ];
  await worker.start();
  await waitUntil("the first job runs", () => started.length > 0);
  // The second job may be fetched together with the first. It is then returned, so only one job stays locked.
  await waitUntil(
    "the job and its queue are locked",
    async () => (await lockedSince()).length === 2,
  );
  const taken = await lockedSince();
  await waitUntil("all locks are renewed", async () =>
    (await lockedSince()).every((at, place) => at > (taken[place] ?? "")),
  );
  assert.deepEqual(started, ids.slice(0, 1));
  end.open();
  for (const id of ids) await waitUntil("the job is done", () => isGone(id));
  assert.deepEqual(started, ids);
});

test("A job that blocks its worker's process for hours keeps its lock, and the lock of its queue.", async () => {
  const recovery = { ...QUICK, staleLockThresholdMs: 1_000 };
  const worker = await workerProcess(queue.url, { recovery });
  const { id } = await add("blocking", { ms: 600_000 }, { queueName: "line" });
  await worker.event("started");
  const from = await lockedSince();
  assert.equal(from.length, 2);
  await waitUntil("both locks are renewed", async () =>
    (await lockedSince()).every((at, place) => at > (from[place] ?? "")),
  );
  assert.equal((await job(id))?.locked_by, worker.workerId);
  worker.signal("SIGKILL");
  await worker.exited;
});

/** Returns the lock times of all locked jobs and queues. */
async function lockedSince(): Promise<string[]> {
  const rows = await queue.sql<{ at: string }>(
    `select locked_at::text as at from worker._private_jobs where locked_at is not null
     union all
     select locked_at::text from worker._private_job_queues where locked_at is not null`,
  );
  return rows.map(({ at }) => at);
}
