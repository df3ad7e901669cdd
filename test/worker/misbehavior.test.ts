// Tests tasks that throw values that are hard to print, reject with such values, or return them. After a throw or a
// rejection, the job fails and has a text as its error. In all cases the worker continues. Some values are texts of
// 100 MB, so `npm test` runs only the test without the fast lane.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTask } from "../../src/worker/task/task.ts";
import { members } from "../support/rounds.ts";
import { misbehave, THROWS } from "./misbehavior.ts";
import { recorder, recordingTask, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

for (const fastLane of members([false, true], [false])) {
  test(`Whatever value a task throws, only its own job fails (${fastLane ? "fast" : "safe"}).`, async () => {
    const { logger } = recorder();
    const misbehaving = defineTask<string>("misbehaving", (behavior, { signal }) =>
      misbehave(behavior, signal),
    );
    const quick = recordingTask("quick");
    await queue.startWorker({ tasks: [misbehaving, quick], logger, fastLane });
    const jobs = THROWS.map((behavior) => ({
      ...{ identifier: "misbehaving", payload: behavior },
      spec: { maxAttempts: 1 },
    }));
    await queue.utils.addJobs(jobs);
    await waitUntil(
      "all misbehaving jobs have ended",
      async () => {
        return (await queue.remaining()).every(
          ({ attempts, locked_by }) => attempts > 0 && !locked_by,
        );
      },
      60_000,
    );
    await queue.utils.addJob("quick");
    await waitUntil("another job runs", () => quick.seen.length === 1);
    const failed = new Map((await queue.remaining()).map((job) => [JSON.parse(job.payload), job]));
    for (const behavior of THROWS.filter((one) => !one.startsWith("returns"))) {
      const text = failed.get(behavior)?.last_error ?? "";
      assert.ok(text.length > 0 && text.length <= 65_536, `${behavior}: ${text.slice(0, 100)}`);
    }
  });
}
