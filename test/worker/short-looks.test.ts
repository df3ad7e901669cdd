// What a worker that rests takes by a short look: the same jobs, with the same columns, as by a
// claim of everything; and what a short look does not see comes all the same.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TaskJob } from "../../src/worker/claimed-job.ts";
import { defineTask } from "../../src/worker/task.ts";
import { recording, until, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

// A poll would hide what a look has missed.
const NEVER_MS = 3_600_000;

/** What of a job a task may see. */
const seenOf = (job: TaskJob) => ({
  payload: job.payloadText,
  key: job.key,
  flags: [...job.flags],
  priority: job.priority,
  attempts: job.attempts,
  maxAttempts: job.maxAttempts,
  revision: job.revision,
  runAt_ms: job.runAt.getTime(),
  createdAt_ms: job.createdAt.getTime(),
  lastError: job.lastError,
});

for (const fastLane of [false, true]) {
  describe(fastLane ? "A resting worker with a fast lane" : "A resting worker", () => {
    /** A worker that has found nothing, and rests. */
    async function resting(forbiddenFlags: string[] = []) {
      const seen: TaskJob[] = [];
      const warm = recording("warm");
      const show = defineTask("show", (_, { job }) => {
        seen.push(job);
        if (job.attempts === 1 && job.payloadText.includes("fails")) throw new Error("once");
      });
      const tasks = [warm, show];
      await queue.started({ tasks, forbiddenFlags, fastLane, pollInterval_ms: NEVER_MS });
      await queue.utils.addJob("warm");
      await until("it rests", async () => (await queue.left()).length === 0);
      return { seen, shown: (count: number) => until("shown", () => seen.length === count) };
    }

    test("sees every column of a job that is announced.", async () => {
      const { seen, shown } = await resting();
      const payload = { text: '\u001f"é\\', list: [1, null] };
      const spec = { jobKey: "the key", flags: ["a", "b"], priority: 7, maxAttempts: 3 };
      const added = await queue.utils.addJob("show", payload, spec);
      await shown(1);
      const [job] = seen;
      assert.ok(job);
      const { runAt_ms, createdAt_ms, ...rest } = seenOf(job);
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
      assert.equal(runAt_ms, added?.runAt.getTime());
      assert.equal(createdAt_ms, added?.createdAt.getTime());
    });

    test("sees the text of a payload as it is stored.", async () => {
      const { seen, shown } = await resting();
      const text = '{"b": 9007199254740993,  "a": 1, "a": 2}';
      await queue.sql(`select worker.add_job('show', '${text}'::json)`);
      await shown(1);
      assert.equal(seen[0]?.payloadText, text);
    });

    test("sees why the attempt before failed.", async () => {
      const { seen, shown } = await resting();
      const added = await queue.utils.addJob("show", "fails");
      await until("failed", async () => (await queue.left())[0]?.last_error != null);
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

    test("takes what comes behind jobs that are scheduled, or not for it.", async () => {
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

    test("takes jobs of named queues, and those without a queue beside them.", async () => {
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

    test("takes all of many jobs that are announced at once.", async () => {
      const { seen, shown } = await resting();
      const jobs = Array.from({ length: 500 }, (_, payload) => ({ identifier: "show", payload }));
      await queue.utils.addJobs(jobs);
      await shown(500);
      assert.equal(new Set(seen.map(({ id }) => id)).size, 500);
    });
  });
}
