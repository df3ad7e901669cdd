// Tasks that throw values which are hard to print: the job fails with a text, and the worker continues.
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTask } from "../../src/worker/task/task.ts";
import { act, THROWS } from "./deeds.ts";
import { recorder, recordingTask, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

for (const fastLane of [false, true]) {
  test(`Any value that a task throws fails only its job (${fastLane ? "fast" : "safe"}).`, async () => {
    const { logger } = recorder();
    const deeds = defineTask<string>("deed", (deed, { signal }) => act(deed, signal));
    const quick = recordingTask("quick");
    await queue.startWorker({ tasks: [deeds, quick], logger, fastLane });
    const jobs = THROWS.map((deed) => ({
      ...{ identifier: "deed", payload: deed },
      spec: { maxAttempts: 1 },
    }));
    await queue.utils.addJobs(jobs);
    await waitUntil(
      "all have ended",
      async () => {
        return (await queue.remaining()).every(
          ({ attempts, locked_by }) => attempts > 0 && !locked_by,
        );
      },
      60_000,
    );
    await queue.utils.addJob("quick");
    await waitUntil("another one runs", () => quick.seen.length === 1);
    const failed = new Map((await queue.remaining()).map((job) => [JSON.parse(job.payload), job]));
    for (const deed of THROWS.filter((one) => !one.startsWith("returns"))) {
      const text = failed.get(deed)?.last_error ?? "";
      assert.ok(text.length > 0 && text.length <= 65_536, `${deed}: ${text.slice(0, 100)}`);
    }
  });
}
