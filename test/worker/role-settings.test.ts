// Tests that settings of a role or a database, such as the isolation level, do not change what workers and WorkerUtils
// do.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import pg from "pg";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import {
  recorder,
  recordingTask,
  waitFor,
  waitUntil,
  witness,
  workerQueue,
} from "./worker-queue.ts";

const queue = workerQueue();

const withSettings = (...settings: string[]) => {
  const options = encodeURIComponent(settings.map((one) => `-c ${one}`).join(" "));
  return `${queue.url}${queue.url.includes("?") ? "&" : "?"}options=${options}`;
};

test("With array_nulls off, added jobs and errors of failed jobs are stored as usual.", async () => {
  const connectionString = withSettings("array_nulls=off");
  const pool = new pg.Pool({ connectionString });
  const utils = await makeWorkerUtils({ pool });
  const runAt = new Date("2030-01-01T00:00:00Z");
  await utils.addJobs([
    { identifier: "a", payload: 1, spec: { queueName: "q", priority: 3, flags: ["f"] } },
    { identifier: "b", payload: 2, spec: { runAt, maxAttempts: 7 } },
    { identifier: "a", payload: 3 },
  ]);
  await utils.addJobs([
    { identifier: "a", payload: 4, spec: { jobKey: "k", queueName: "q" } },
    { identifier: "a", payload: 5 },
  ]);
  await utils.copyJobs([
    { identifier: "a", payload: 6, spec: { queueName: "q" } },
    { identifier: "b", payload: 7 },
  ]);
  const rows =
    await queue.sql(`select payload::text, queue_name as queue, priority, max_attempts as most,
    key, flags::text, run_at = '2030-01-01Z' as later from worker._private_jobs j
    left join worker._private_job_queues q on q.id = j.job_queue_id order by payload::text`);
  const row = { queue: null, priority: 0, most: 25, key: null, flags: null, later: false };
  assert.deepEqual(rows, [
    { ...row, payload: "1", queue: "q", priority: 3, flags: '{"f": true}' },
    { ...row, payload: "2", most: 7, later: true },
    { ...row, payload: "3" },
    { ...row, payload: "4", queue: "q", key: "k" },
    { ...row, payload: "5" },
    { ...row, payload: "6", queue: "q" },
    { ...row, payload: "7" },
  ]);
  await queue.sql("delete from worker._private_jobs");
  await queue.startWorker({
    connectionString,
    tasks: [recordingTask("bad", () => Promise.reject(new Error("no")))],
  });
  await utils.addJob("bad");
  await waitUntil("the attempt has failed", async () =>
    /no/.test((await queue.remaining())[0]?.last_error ?? ""),
  );
  await utils.end();
  await pool.end();
});

for (const fastLane of [false, true]) {
  test(`With idle_session_timeout, connections that wait for jobs stay open, fast lane: ${fastLane}.`, async () => {
    const connectionString = withSettings("idle_session_timeout=200");
    const task = recordingTask("task");
    const lost = witness("worker:disconnected");
    const { lines, logger } = recorder();
    const options = { connectionString, fastLane, logger, plugins: [lost], recovery: {} };
    await queue.startWorker({ ...options, tasks: [task], pollIntervalMs: 3_600_000 });
    const other = new pg.Client({ connectionString });
    other.on("error", () => {});
    const closed = new Promise((resolve) => void other.once("end", resolve));
    await other.connect();
    await waitFor("an idle connection is closed", closed);
    await queue.utils.addJob("task");
    await waitUntil("the job runs", () => task.seen.length === 1);
    assert.deepEqual(lost.all("worker:disconnected"), []);
    assert.deepEqual(
      lines.filter(({ level }) => level === "warn" || level === "error"),
      [],
    );
  });

  for (const level of ["serializable", "repeatable read"]) {
    describe(`${fastLane ? "With a fast lane" : "In the safe mode"}, with ${level} transactions,`, () => {
      test("no job runs twice, and all adds are accepted.", async () => {
        const escaped = level.replace(" ", "\\ ");
        const connectionString = withSettings(`default_transaction_isolation=${escaped}`);
        const task = recordingTask<{ n: number }>("task", ({ n }) =>
          n % 10 === 0 ? new Promise((resolve) => setTimeout(resolve, 50)) : undefined,
        );
        const events = witness("job:interrupted", "worker:disconnected");
        for (let n = 0; n < 3; n++) {
          const plugins = [events];
          await queue.startWorker({
            connectionString,
            fastLane,
            plugins,
            tasks: [task],
            concurrency: 5,
          });
        }
        const utils = await makeWorkerUtils({ connectionString });
        const batch = (at: number) =>
          Array.from({ length: 20 }, (_, k) => ({
            identifier: "task",
            payload: { n: 20 * at + k },
            spec: k % 4 === 1 ? { queueName: `q${k % 3}` } : {},
          }));
        await Promise.all(Array.from({ length: 10 }, (_, at) => utils.addJobs(batch(at))));
        await waitUntil("all jobs have run", async () => (await queue.remaining()).length === 0);
        await utils.end();
        assert.equal(task.seen.length, 200);
        assert.equal(new Set(task.seen.map(({ n }) => n)).size, 200);
        assert.deepEqual(events.all("job:interrupted"), []);
      });
    });
  }
}

test("Concurrent pauses, limits and cancels all succeed in serializable transactions.", async () => {
  await queue.utils.migrate({ extensions: ["limits"] });
  const utils = await makeWorkerUtils({
    connectionString: withSettings("default_transaction_isolation=serializable"),
  });
  const changes = Array.from({ length: 6 }, async (_, session) => {
    for (let n = 0; n < 8; n++) {
      await utils.pauseQueue("q", { reason: `${session}` });
      await utils.resumeQueue("q");
      await utils.pauseAll({ cancelRunning: true });
      await utils.resumeAll();
      await utils.setLimit({ name: "limit", task: "t", concurrency: session + 1 });
      await utils.removeLimit("limit");
    }
  });
  await Promise.all(changes);
  assert.deepEqual(await utils.listPauses(), []);
  await utils.end();
});
