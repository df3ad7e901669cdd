// A worker process is frozen with SIGSTOP until its lease has expired, and wakes after SIGCONT.
import assert from "node:assert/strict";
import { test } from "node:test";
import { testQueue } from "../../queue/queue-database.ts";
import { jobsOf } from "../recovery-jobs.ts";
import { QUICK, type WorkerProcess, waitUntil, workerProcess } from "../worker-process.ts";

const queue = testQueue();
const { add, isGone, job, workerIds } = jobsOf(queue);

const named = (worker: WorkerProcess, name: string) =>
  worker.events.filter(({ event }) => event === name);

test("A frozen worker that wakes does not settle jobs that another worker has taken over, and reports them as interrupted.", async () => {
  const frozen = await workerProcess(queue.url);
  const done = await add("held");
  const failed = await add("refused");
  for (const { id } of [done, failed]) await frozen.event("started", (event) => event["id"] === id);
  const other = await workerProcess(queue.url);
  frozen.signal("SIGSTOP");
  for (const { id } of [done, failed]) await other.event("started", (event) => event["id"] === id);
  frozen.signal("SIGCONT");
  const { newWorkerId, reason } = await frozen.event("leaseLost");
  assert.equal(reason, "recovered");
  // The frozen worker's attempts end now, but the jobs stay locked by the other worker.
  frozen.release();
  for (const { id } of [done, failed]) {
    const { reason } = await frozen.event("interrupted", (event) => event["id"] === id);
    assert.equal(reason, "lease_lost");
    const { locked_by, attempts } = (await job(id)) ?? {};
    assert.deepEqual([locked_by, attempts], [other.workerId, 2]);
  }
  other.release();
  await waitUntil("the job is done", () => isGone(done.id));
  await waitUntil("the job has failed", async () => (await job(failed.id))?.locked_by === null);
  assert.match((await job(failed.id))?.last_error ?? "", /refused/);
  assert.deepEqual([named(other, "interrupted"), named(other, "leaseLost")], [[], []]);
  // The row of the old id is deleted. The row of the new id remains until the worker stops.
  await waitUntil(
    "the row of the old worker id is deleted",
    async () => !(await workerIds()).includes(frozen.workerId),
  );
  assert.ok((await workerIds()).includes(String(newWorkerId)));
  await Promise.all([frozen.stop(), other.stop()]);
  assert.deepEqual(await workerIds(), []);
});

test("If a woken worker fetches its own job again, the job is completed only once.", async () => {
  const frozen = await workerProcess(queue.url);
  const { id } = await add("held", {}, { flags: ["mine"] });
  await frozen.event("started");
  const sweeper = await workerProcess(queue.url, { forbiddenFlags: ["mine"] });
  frozen.signal("SIGSTOP");
  await sweeper.event("recovered");
  frozen.signal("SIGCONT");
  const { newWorkerId } = await frozen.event("leaseLost");
  await frozen.event("started", ({ attempts }) => attempts === 2);
  assert.equal((await job(id))?.locked_by, newWorkerId);
  // Both attempts end in one process. Only the result of the second one is written, because the new id holds the lock.
  frozen.release();
  await frozen.event("interrupted");
  await waitUntil("the job is done", () => isGone(id));
  assert.equal(named(frozen, "completed").length, 2);
  assert.equal(named(frozen, "interrupted").length, 1);
  await Promise.all([frozen.stop(), sweeper.stop()]);
});

test("A woken worker keeps its resilient jobs and finishes them under its old id.", async () => {
  // resilientThresholdMs is so long that even on a busy machine the worker is woken before this time has passed.
  const options = { recovery: { ...QUICK, resilientThresholdMs: 6_000 } };
  const frozen = await workerProcess(queue.url, options);
  const { id } = await add("held", {}, { flags: ["infrastructure_resilient"] });
  await frozen.event("started");
  const sweeper = await workerProcess(queue.url, options);
  frozen.signal("SIGSTOP");
  await sweeper.event("recovered");
  frozen.signal("SIGCONT");
  await frozen.event("leaseLost");
  // The woken worker renews the leases of both ids, so the old id's lease is still valid after resilientThresholdMs.
  const [before] = await queue.sql<{ now: string }>("select now()::text as now");
  await waitUntil("6.5 s have passed in the database", async () => {
    const text = "select now() > $1::timestamptz + interval '6.5 s' as passed";
    return (await queue.sql<{ passed: boolean }>(text, [before?.now]))[0]?.passed === true;
  });
  assert.deepEqual((await job(id))?.locked_by, frozen.workerId);
  frozen.release();
  await waitUntil("the job is done", () => isGone(id));
  assert.deepEqual(named(frozen, "interrupted"), []);
  assert.deepEqual(named(sweeper, "started"), []);
  await Promise.all([frozen.stop(), sweeper.stop()]);
  assert.deepEqual(await workerIds(), []);
});
