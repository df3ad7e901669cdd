// Tests the fast lane of a process that a job blocks, and of a frozen process. The jobs of the fast lane are locked by
// an open transaction. A blocked process still renews its lease, so its jobs stay locked. The lease of a frozen process
// expires. Then another worker ends the transaction of the frozen process and runs its jobs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { testQueue } from "../../queue/queue-database.ts";
import { jobsOf } from "../recovery-jobs.ts";
import { type WorkerProcess, waitUntil, workerProcess } from "../worker-process.ts";

const queue = testQueue();
const { add, isGone, job } = jobsOf(queue);

// The threshold is longer than that of QUICK (worker-process.ts), because heartbeats must succeed on a busy machine for
// 12 seconds.
const PATIENT = { heartbeatIntervalMs: 250, thresholdMs: 4_000 };

/** Starts a process whose fast lane runs a job that blocks the process for `ms`. */
async function blockedFor(ms: number): Promise<{ worker: WorkerProcess; id: string }> {
  const worker = await workerProcess(queue.url, { fastLane: true, recovery: PATIENT });
  // Once this job has run, the lane is connected.
  const first = await add("quick");
  await waitUntil("the job `quick` is done", () => isGone(first.id));
  const { id } = await add("blocking", { ms });
  await worker.event("started", (event) => event["id"] === id);
  assert.deepEqual([(await job(id))?.locked_by, (await job(id))?.attempts], [null, 0]);
  return { worker, id };
}

test("A job that blocks its process for 12 seconds in a fast lane runs once.", async () => {
  const { worker, id } = await blockedFor(12_000);
  const other = await workerProcess(queue.url, { fastLane: true, recovery: PATIENT });
  await worker.event("completed", (event) => event["id"] === id);
  await waitUntil("the result of the job is written", () => isGone(id));
  const started = [...worker.events, ...other.events].filter(
    (event) => event.event === "started" && event["id"] === id,
  );
  assert.equal(started.length, 1);
  await Promise.all([worker.stop(), other.stop()]);
});

test("The jobs of a frozen fast lane are run by another worker once the lease has expired.", async () => {
  const { worker, id } = await blockedFor(600_000);
  const other = await workerProcess(queue.url, { recovery: PATIENT });
  worker.signal("SIGSTOP");
  await other.event("started", (event) => event["id"] === id);
  // The other worker cannot report the recovery, because the same job now blocks it. So the test reads the table.
  await waitUntil("the frozen worker is marked as recovered", async () => {
    const [lease] = await queue.sql<{ is_recovered: boolean }>(
      "select metadata ? 'recovered_at' as is_recovered from worker._private_workers where id = $1",
      [worker.workerId],
    );
    return lease === undefined || lease.is_recovered;
  });
  worker.signal("SIGKILL");
  other.signal("SIGKILL");
});
