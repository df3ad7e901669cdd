// Tests that the quick fetch of an idle worker reads all columns of a job, and that an ordinary fetch finds the jobs
// that a quick fetch does not read. Also tests a fetch that gets no answer.
import assert from "node:assert/strict";
import { Socket } from "node:net";
import { describe, test } from "node:test";
import pg from "pg";
import { defineTask } from "../../src/worker/task/task.ts";
import type { TaskJob } from "../../src/worker/task/task-job.ts";
import { recordingTask, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

// A poll interval that is longer than the tests, because a poll would find the jobs that a fetch has missed.
const NEVER_MS = 3_600_000;

const seenOf = (job: TaskJob) => ({
  payload: job.payloadText,
  key: job.key,
  flags: [...job.flags],
  priority: job.priority,
  attempts: job.attempts,
  maxAttempts: job.maxAttempts,
  revision: job.revision,
  runAtMs: job.runAt.getTime(),
  createdAtMs: job.createdAt.getTime(),
  lastError: job.lastError,
});

for (const fastLane of [false, true]) {
  describe(fastLane ? "An idle worker with a fast lane" : "An idle worker", () => {
    async function resting(forbiddenFlags: string[] = [], concurrency = 10, more: object = {}) {
      const seen: TaskJob[] = [];
      const warm = recordingTask("warm");
      const show = defineTask("show", (_, { job }) => {
        seen.push(job);
        if (job.attempts === 1 && job.payloadText.includes("fails")) throw new Error("once");
      });
      const tasks = [warm, show];
      const options = { forbiddenFlags, fastLane, concurrency, pollIntervalMs: NEVER_MS };
      await queue.startWorker({ tasks, ...options, ...more });
      await queue.utils.addJob("warm");
      await waitUntil("the job `warm` is done", async () => (await queue.remaining()).length === 0);
      return {
        seen,
        shown: (count: number) =>
          waitUntil("the jobs of the task `show` have run", () => seen.length === count),
      };
    }

    test("reads every column of an announced job.", async () => {
      const { seen, shown } = await resting();
      const payload = { text: '\u001f"é\\', list: [1, null] };
      const spec = { jobKey: "the key", flags: ["a", "b"], priority: 7, maxAttempts: 3 };
      const added = await queue.utils.addJob("show", payload, spec);
      await shown(1);
      const [job] = seen;
      assert.ok(job);
      const { runAtMs, createdAtMs, ...rest } = seenOf(job);
      assert.deepEqual(rest, {
        payload: JSON.stringify(payload),
        key: "the key",
        flags: ["a", "b"],
        priority: 7,
        attempts: 1,
        maxAttempts: 3,
        revision: 0,
        lastError: null,
      });
      assert.equal(runAtMs, added?.runAt.getTime());
      assert.equal(createdAtMs, added?.createdAt.getTime());
    });

    test("reads the text of a payload as stored.", async () => {
      const { seen, shown } = await resting();
      const text = '{"b": 9007199254740993,  "a": 1, "a": 2}';
      await queue.sql(`select worker.add_job('show', '${text}'::json)`);
      await shown(1);
      assert.equal(seen[0]?.payloadText, text);
    });

    test("reads the error of the previous attempt.", async () => {
      const { seen, shown } = await resting();
      const added = await queue.utils.addJob("show", "fails");
      await waitUntil(
        "the job has failed",
        async () => (await queue.remaining())[0]?.last_error != null,
      );
      await queue.utils.rescheduleJobs([added?.id ?? ""], { runAt: new Date(0) });
      await queue.utils.addJob("warm");
      await shown(2);
      assert.deepEqual(
        seen.map(({ attempts, lastError }) => [attempts, lastError?.split("\n")[0]]),
        [
          [1, undefined],
          [2, "Error: once"],
        ],
      );
    });

    test("fetches jobs although more urgent ones are scheduled, or can be run only by other workers.", async () => {
      const { seen, shown } = await resting(["other"]);
      const tomorrow = new Date(Date.now() + 86_400_000);
      await queue.utils.addJob("show", "later", { priority: -5, runAt: tomorrow });
      await queue.utils.addJob("unknown", "whose?", { priority: -4 });
      await queue.utils.addJob("show", "forbidden", { priority: -3, flags: ["other"] });
      for (const [place, text] of ["first", "second", "third"].entries()) {
        await queue.utils.addJob("show", text);
        await shown(place + 1);
      }
      assert.deepEqual(
        seen.map(({ payload }) => payload),
        ["first", "second", "third"],
      );
    });

    test("fetches jobs of named queues, and jobs without a queue.", async () => {
      const { seen, shown } = await resting();
      await queue.utils.addJob("show", "queued", { queueName: "one at a time" });
      await shown(1);
      await queue.utils.addJob("show", "free");
      await shown(2);
      await queue.utils.addJob("show", "queued again", { queueName: "one at a time" });
      await shown(3);
      assert.deepEqual(
        seen.map(({ payload }) => payload),
        ["queued", "free", "queued again"],
      );
    });

    // The jobs have been due since 1970, so that only their announcement wakes the worker. If a job becomes due after
    // the worker's last fetch, its due time may wake the worker, too.
    const many = (length: number, spec: object) =>
      Array.from({ length }, (_, payload) => ({
        identifier: "show",
        payload,
        spec: { runAt: new Date(0), ...spec },
      }));

    for (const concurrency of [1, 10, 100]) {
      test(`fetches all of 500 jobs announced at once, with a concurrency of ${concurrency}.`, async () => {
        const { seen, shown } = await resting([], concurrency);
        await queue.utils.addJobs(many(500, {}));
        await shown(500);
        assert.equal(new Set(seen.map(({ id }) => id)).size, 500);
      });
    }

    test("fetches less urgent jobs that are announced with a more urgent one.", async () => {
      // With two connections, a second fetch, of less urgent jobs, could be answered before the first fetch.
      const { seen, shown } = await resting([], 10, { connections: 1 });
      await queue.utils.addJobs([...many(1, { priority: -5 }), ...many(100, { priority: 3 })]);
      await shown(101);
      assert.equal(seen[0]?.priority, -5);
    });

    test("distinguishes an empty error from no error.", async () => {
      const { seen, shown } = await resting();
      await queue.sql(
        "insert into worker._private_jobs (task_id, payload, last_error, created_at) " +
          "select id, '1', '', '-infinity' from worker._private_tasks where identifier = 'show'",
      );
      await queue.sql('notify "jobs:insert"');
      await shown(1);
      assert.equal(seen[0]?.lastError, "");
      assert.equal(seen[0]?.createdAt.getTime(), -8.64e15);
    });
  });
}

test("The jobs of a fetch without an answer count as locked until its connection is closed, and then all jobs run.", async (t) => {
  // The socket of the first fetch after `isArmed` was set. The socket is paused, so that this fetch gets no answer.
  let silenced: Socket | undefined;
  let isArmed = false;
  const stream = () => {
    const socket = new Socket();
    // `write` is replaced only after connect(), because connect() restores the original `write`.
    socket.once("connect", () => {
      const write = socket.write.bind(socket) as (chunk: Uint8Array) => boolean;
      socket.write = (chunk: Uint8Array | string) => {
        if (isArmed && /worker_\d/.test(Buffer.from(chunk).toString("latin1"))) {
          isArmed = false;
          silenced = socket.pause();
        }
        return write(Buffer.from(chunk));
      };
    });
    return socket;
  };
  const pool = new pg.Pool({ connectionString: queue.url, stream });
  t.after(() => pool.end());
  const show = recordingTask("show");
  const worker = await queue.startWorker({ pool, tasks: [show], pollIntervalMs: NEVER_MS });
  await queue.utils.addJob("show", "warm");
  await waitUntil("the first job is done", async () => (await queue.remaining()).length === 0);
  isArmed = true;
  // More jobs than slots, so that further fetches are needed.
  await queue.utils.addJobs(
    Array.from({ length: 25 }, (_, payload) => ({ identifier: "show", payload })),
  );
  await waitUntil("the fetch that gets no answer is sent", () => silenced !== undefined);
  await waitUntil("all jobs have run", () => show.seen.length === 26);
  assert.equal(new Set(show.seen).size, 26);
  await worker.stop();
});
