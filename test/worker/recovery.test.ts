// Tests how workers recover the jobs of a worker that was killed. Each worker is a process of its own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sweepStaleWorkers } from "../../src/commands/maintenance/sweep-stale-workers.ts";
import { lockJob, testQueue } from "../queue/queue-database.ts";
import { jobsOf } from "./recovery-jobs.ts";
import { QUICK, waitUntil, workerProcess } from "./worker-process.ts";

const queue = testQueue();
const { add, isGone, job, workerIds } = jobsOf(queue);

test("Another worker runs the jobs of a killed worker.", async () => {
  const first = await workerProcess(queue.url);
  const { id } = await add("held");
  await first.event("started");
  const second = await workerProcess(queue.url);
  first.signal("SIGKILL");
  const started = await second.event("started");
  assert.deepEqual([started["id"], started["attempts"]], [id, 2]);
  assert.deepEqual((await second.event("recovered"))["staleWorkerIds"], [first.workerId]);
  assert.equal(
    (await job(id))?.last_error,
    `Recovered: worker ${first.workerId} stopped without finishing attempt 1`,
  );
  second.release();
  await waitUntil("the job is done", () => isGone(id));
  await second.stop();
});

test("A worker that stops normally leaves no row behind.", async () => {
  const worker = await workerProcess(queue.url);
  assert.deepEqual(await workerIds(), [worker.workerId]);
  // The stop waits at most 0.8 s for the heartbeat thread. On a busy machine the thread may need longer to start, so
  // the test first waits until the thread has sent a heartbeat.
  await waitUntil("the heartbeat thread sends a heartbeat", async () => {
    const text = "select last_heartbeat_at > started_at as beats from worker._private_workers";
    return (await queue.sql<{ beats: boolean }>(text))[0]?.beats === true;
  });
  await worker.stop();
  assert.deepEqual(await workerIds(), []);
});

test("When the job of a killed worker is recovered, the named queue of the job is unlocked, too.", async () => {
  const first = await workerProcess(queue.url);
  const one = await add("held", {}, { queueName: "line" });
  await first.event("started");
  const two = await add("quick", {}, { queueName: "line" });
  first.signal("SIGKILL");
  const second = await workerProcess(queue.url);
  second.release();
  for (const { id } of [one, two]) await waitUntil(`job ${id} is done`, () => isGone(id));
  await second.stop();
  const [line] = await queue.sql("select locked_by from worker._private_job_queues");
  assert.equal(line?.["locked_by"], null);
});

test("A job that kills its worker runs out of attempts.", async () => {
  const first = await workerProcess(queue.url);
  const { id } = await add("poison", {}, { maxAttempts: 2 });
  await first.exited;
  // The second worker recovers the job and runs it, and is killed by the job, too.
  const second = await workerProcess(queue.url);
  await second.exited;
  const last = await workerProcess(queue.url);
  const { workerId } = second;
  await last.event("recovered", (event) =>
    (event["staleWorkerIds"] as string[]).includes(workerId),
  );
  const failed = await job(id);
  assert.deepEqual([failed?.attempts, failed?.locked_by, failed?.is_available], [2, null, false]);
  await last.stop();
  assert.deepEqual(
    last.events.filter(({ event }) => event === "started"),
    [],
  );
});

test("A worker keeps its lease while a task blocks the event loop for longer than the lease.", async () => {
  // This threshold is longer than in QUICK, so that even on a busy machine a heartbeat is sent in time.
  const recovery = { ...QUICK, thresholdMs: 2_500 };
  const worker = await workerProcess(queue.url, { recovery });
  const other = await workerProcess(queue.url, { recovery, forbiddenFlags: ["mine"] });
  const { id } = await add("blocking", { ms: 2 * recovery.thresholdMs }, { flags: ["mine"] });
  await worker.event("completed");
  await waitUntil("the job is done", () => isGone(id));
  assert.deepEqual(
    [...worker.events, ...other.events].filter(({ event }) => event === "recovered"),
    [],
  );
  assert.equal(worker.events.filter(({ event }) => event === "started").length, 1);
  await Promise.all([worker.stop(), other.stop()]);
});

test("Resilient jobs are recovered only after their own, longer threshold.", async () => {
  const options = { recovery: { ...QUICK, resilientThresholdMs: 4_000 } };
  const first = await workerProcess(queue.url, options);
  const ordinary = await add("held");
  const resilient = await add("held", {}, { flags: ["infrastructure_resilient"] });
  await first.event("started", ({ id }) => id === ordinary.id);
  await first.event("started", ({ id }) => id === resilient.id);
  const second = await workerProcess(queue.url, options);
  first.signal("SIGKILL");
  await first.exited;
  const [dead] = await queue.sql<{ heartbeat: string }>(
    "select last_heartbeat_at::text as heartbeat from worker._private_workers where id = $1",
    [first.workerId],
  );
  for (const { id } of [ordinary, resilient]) {
    await second.event("started", (started) => started["id"] === id);
  }
  // For each job, the time from the first worker's last heartbeat until the second worker locked the job.
  const waits = await queue.sql<{ id: string; ms: number }>(
    `select id::text, (extract(epoch from locked_at - $1::timestamptz) * 1000)::float8 as ms
     from worker._private_jobs order by id`,
    [dead?.heartbeat],
  );
  const of = ({ id }: { id: string }) => waits.find((one) => one.id === id)?.ms ?? 0;
  assert.ok(of(resilient) > 4_000 && of(ordinary) <= of(resilient), JSON.stringify(waits));
  assert.deepEqual(await workerIds(), [second.workerId]);
  await second.stop();
});

test("Workers do not recover a job that a worker without heartbeats has locked. A manual sweep finds this worker.", async () => {
  const dead = await workerProcess(queue.url);
  const { id } = await add("held");
  await dead.event("started");
  const stock = await add("unknown");
  await lockJob(queue, stock.id, "worker-of-stock-graphile", "1 hour");
  dead.signal("SIGKILL");
  const worker = await workerProcess(queue.url);
  assert.deepEqual((await worker.event("recovered"))["staleWorkerIds"], [dead.workerId]);
  assert.equal((await job(stock.id))?.locked_by, "worker-of-stock-graphile");
  const found = await sweepStaleWorkers(queue.db, { dryRun: true });
  assert.deepEqual([found.unknownWorkers, found.lockedJobs], [["worker-of-stock-graphile"], 1]);
  worker.release();
  await waitUntil("the job is done", () => isGone(id));
  await worker.stop();
});
