// Tests a worker that was frozen until its lease had expired. After the worker wakes, it starts none of the jobs that
// another worker has recovered, even if the whole machine was suspended. One call of stop() ends the worker.
import assert from "node:assert/strict";
import { test } from "node:test";
import { addJobs } from "../../../src/queue/add/add-jobs.ts";
import { testQueue } from "../../queue/queue-database.ts";
import { jobsOf } from "../recovery-jobs.ts";
import { type WorkerProcess, waitUntil, workerProcess } from "../worker-process.ts";

const queue = testQueue();
const { add, isGone, job, workerIds } = jobsOf(queue);

const named = (worker: WorkerProcess, name: string) =>
  worker.events.filter(({ event }) => event === name);

test("A worker that was frozen past its lease starts none of the jobs that it had fetched before.", () =>
  startsNone());

test("A worker whose machine was suspended starts none of the jobs that it had fetched before.", () =>
  startsNone("./suspended-child.ts"));

async function startsNone(main?: string): Promise<void> {
  const localQueue = { size: 40, adaptive: false } as const;
  const frozen = await workerProcess(queue.url, { concurrency: 1, localQueue }, main);
  // One fetch returns all these jobs. The first job freezes the process as soon as it starts.
  const names = ["freezing", ...Array.from({ length: 10 }, () => "quick")];
  const jobs = await addJobs(
    queue.db,
    names.map((identifier) => ({ identifier })),
  );
  const [first, ...waiting] = jobs.map(({ id }) => ({ id }));
  for (const one of waiting) {
    await waitUntil(
      "the worker has fetched the job",
      async () => (await job(one.id))?.locked_by === frozen.workerId,
    );
  }
  const other = await workerProcess(queue.url, { concurrency: 4 });
  for (const one of waiting) await other.event("started", (event) => event["id"] === one.id);
  // The worker's first job is released before the process wakes. So the job ends as soon as the process wakes, and the
  // worker's slot is free for another job.
  frozen.release();
  frozen.signal("SIGCONT");
  await frozen.event("leaseLost");
  other.release();
  await waitUntil("the first job is done", () => isGone(first?.id ?? ""));
  await Promise.all([frozen.stop(), other.stop()]);
  const ids = new Set(waiting.map((one) => one.id));
  assert.deepEqual(
    named(frozen, "started").filter((event) => ids.has(String(event["id"]))),
    [],
  );
}

for (const fastLane of [false, true]) {
  const kind = fastLane ? "fast" : "safe";
  test(`A worker that was frozen past its lease ends after one call of stop() (${kind}).`, async () => {
    const frozen = await workerProcess(queue.url, { fastLane });
    const { id } = await add("held", {}, { queueName: "q" });
    const free = await add("held");
    for (const one of [id, free.id]) await frozen.event("started", (event) => event["id"] === one);
    const other = await workerProcess(queue.url);
    frozen.signal("SIGSTOP");
    await other.event("recovered");
    frozen.signal("SIGCONT");
    await frozen.event("leaseLost");
    frozen.release();
    await frozen.stop();
    other.release();
    for (const one of [id, free.id]) await waitUntil("the job is done", () => isGone(one));
    await other.stop();
    assert.deepEqual(await workerIds(), []);
    const left =
      "select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name like 'worker%'";
    await waitUntil("no connection is left", async () => (await queue.sql(left)).length === 0);
  });
}
