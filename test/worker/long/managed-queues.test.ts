// Worker processes are killed and replaced while they run the jobs of 20 queues. A limit of queues gives each queue
// three slots.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { migratedDatabase } from "../../support/database.ts";
import { QUICK, waitUntil, workerProcess } from "../worker-process.ts";
import { workerQueue } from "../worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["limits"]));
beforeEach(() =>
  queue.sql(`truncate worker._private_limits, worker._private_queue_slots, worker._private_rates
    restart identity cascade`),
);

/** Returns the largest number of slots that are in use in one queue. */
async function mostRuns(): Promise<number> {
  const [row] = await queue.sql<{ most: number }>(
    `select coalesce(max(runs), 0)::int as most from (
       select count(*) as runs from worker._private_queue_slots
       where locked_by is not null group by queue_id) counted`,
  );
  return row?.most ?? 0;
}

test("While workers are killed, no queue has more slots in use than its limit allows, and no queue loses a slot.", async () => {
  await queue.utils.setLimit({ name: "tenants", queue: "tenant/*", concurrency: 3 });
  const jobs = 3_000;
  await queue.utils.addJobs(
    Array.from({ length: jobs }, (_, n) => ({
      identifier: "blocking",
      payload: { ms: 5 },
      spec: { queueName: `tenant/${n % 20}` },
    })),
  );
  const options = { recovery: QUICK, concurrency: 8 };
  const crew = await Promise.all([1, 2, 3].map(() => workerProcess(queue.url, options)));
  let most = 0;
  for (let kill = 0; kill < 4; kill++) {
    const [victim] = crew.splice(0, 1);
    await waitUntil("the worker to kill has run more than 20 jobs", async () => {
      most = Math.max(most, await mostRuns());
      return (victim?.events.filter(({ event }) => event === "completed").length ?? 0) > 20;
    });
    victim?.signal("SIGKILL");
    crew.push(await workerProcess(queue.url, options));
  }
  await waitUntil("all jobs are done", async () => {
    most = Math.max(most, await mostRuns());
    return (await queue.sql("select from worker._private_jobs limit 1")).length === 0;
  });
  assert.ok(most <= 3, `${most} slots of a queue were in use at once`);
  await waitUntil("all slots are free", async () => (await mostRuns()) === 0);
  const rows = await queue.sql(
    "select queue_id from worker._private_queue_slots group by 1 having count(*) <> 3",
  );
  assert.deepEqual(rows, []);
  for (const worker of crew) await worker.stop();
});
