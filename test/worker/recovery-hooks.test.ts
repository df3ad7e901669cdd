// Tests how a running worker recovers the jobs of stale workers, with interceptors, with observers and with a delay.
// Also tests that a running worker resets old locks and restores deleted named queues that have a job.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTask } from "../../src/worker/task/task.ts";
import { Worker } from "../../src/worker/worker.ts";
import { lockJob, testQueue } from "../queue/queue-database.ts";
import { jobsOf } from "./recovery-jobs.ts";
import { QUICK, waitUntil } from "./worker-process.ts";

const queue = testQueue();
const { add, isGone, job, workerIds } = jobsOf(queue);

const quick = defineTask("quick", () => {});
const sweeper = (recovery = {}) =>
  new Worker({ tasks: [quick], connectionString: queue.url, recovery: { ...QUICK, ...recovery } });

/** Adds a stale worker, and a job that this worker has locked. Returns the job's id. */
async function addStaleWorker(id: string): Promise<string> {
  await queue.sql(
    `insert into worker._private_workers (id, last_heartbeat_at, metadata)
     values ($1, now() - interval '2 s', $2)`,
    [id, { threshold_ms: 1_000, resilient_threshold_ms: 60_000 }],
  );
  const held = await add("quick");
  await lockJob(queue, held.id, id);
  return held.id;
}

test("An interceptor is called for each stale worker, and observers are notified.", async () => {
  await using worker = sweeper();
  const [kept, failed, freed] = [
    await addStaleWorker("keep"),
    await addStaleWorker("fail"),
    await addStaleWorker("free"),
  ];
  const called: string[] = [];
  worker.hooks.intercept("jobRecovery", ({ staleWorkerId }) => {
    called.push(staleWorkerId);
    if (staleWorkerId === "keep") return { action: "skip" };
    if (staleWorkerId === "fail") return { action: "fail", message: "its machine burned down" };
    return undefined;
  });
  const recovered = Promise.withResolvers<readonly string[]>();
  worker.hooks.on("worker:recovered", ({ staleWorkerIds }) => recovered.resolve(staleWorkerIds));
  const errors: (string | null)[] = [];
  worker.hooks.on("job:start", (event) => errors.push(event.job.lastError));
  await worker.start();
  assert.deepEqual(await recovered.promise, ["fail", "free"]);
  for (const id of [failed, freed]) await waitUntil("the job is done", () => isGone(id));
  assert.deepEqual(errors, [
    "its machine burned down",
    "Recovered: worker free stopped without finishing attempt 1",
  ]);
  assert.equal((await job(kept))?.locked_by, "keep");
  assert.ok((await workerIds()).includes("keep"));
  // A later search, which finds a new stale worker, does not call the interceptor for `keep` again.
  await waitUntil("another stale worker is found", async () => {
    if (!called.includes("later")) await addStaleWorker("later").catch(() => {});
    return called.includes("later");
  });
  assert.equal(called.filter((id) => id === "keep").length, 1);
});

test("If an interceptor throws for a stale worker, the interceptor is called again later for this worker. The jobs of other stale workers are recovered.", async () => {
  await using worker = sweeper();
  await addStaleWorker("bad");
  const freed = await addStaleWorker("good");
  let calls = 0;
  worker.hooks.intercept("jobRecovery", ({ staleWorkerId }) => {
    if (staleWorkerId === "bad" && ++calls === 1) throw new Error("not now");
    return undefined;
  });
  await worker.start();
  await waitUntil("the job of the other stale worker is done", () => isGone(freed));
  await waitUntil("the interceptor was called again", async () => calls > 1);
});

test("A delay prevents a recovered job from running at once.", async () => {
  await using worker = sweeper({ delayMs: 3_600_000 });
  const id = await addStaleWorker("slow");
  const recovered = Promise.withResolvers<void>();
  worker.hooks.on("worker:recovered", () => recovered.resolve());
  await worker.start();
  await recovered.promise;
  const text = `select run_at > now() + interval '59 minutes' as is_later
    from worker._private_jobs where id = $1`;
  const [row] = await queue.sql<{ is_later: boolean }>(text, [id]);
  assert.equal(row?.is_later, true);
});

test("A running worker restores a named queue that a cleanup has deleted although the queue has a job.", async () => {
  await using worker = sweeper({ resetLocksIntervalMs: 100 });
  const { id } = await add("quick", {}, { queueName: "q" });
  await queue.sql("delete from worker._private_job_queues");
  await worker.start();
  await waitUntil("the job is done", () => isGone(id));
});

test("A running worker resets locks older than 4 hours, and runs the jobs that it has unlocked.", async () => {
  await using worker = sweeper({ resetLocksIntervalMs: 100 });
  const { id } = await add("quick");
  await lockJob(queue, id, "stock-worker", "5 hours");
  await worker.start();
  await waitUntil("the job is done", () => isGone(id));
});
