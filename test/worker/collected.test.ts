// Tests that a worker, in the safe mode and in the fast mode, keeps no references to ended jobs except the last ones.
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { defineTask } from "../../src/worker/task/task.ts";
import type { TaskJob } from "../../src/worker/task/task-job.ts";
import { waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const modes = { "the safe mode": {}, "the fast mode": { fastLane: true } };

for (const [mode, options] of Object.entries(modes)) {
  test(`Ended jobs can be garbage-collected in ${mode}.`, async () => {
    const seen: WeakRef<TaskJob>[] = [];
    const remember = (_: unknown, { job }: { job: TaskJob }) => void seen.push(new WeakRef(job));
    const atOnce = defineTask("at_once", remember);
    const waiting = defineTask("waiting", async (payload, context) => remember(payload, context));
    await queue.startWorker({ tasks: [atOnce, waiting], pollIntervalMs: 20, ...options });
    for (let count = 1; count <= 5; count++) {
      await queue.utils.addJobs(["at_once", "waiting"].map((identifier) => ({ identifier })));
      await waitUntil("the results of the jobs are written", async () => {
        return seen.length === 2 * count && (await queue.remaining()).length === 0;
      });
    }
    // Only the first four of the ten jobs are checked, because the worker may still refer to the last ones.
    const earlier = seen.slice(0, 4);
    await waitUntil("the earlier jobs are garbage-collected", () => {
      collect();
      return earlier.every((job) => job.deref() === undefined);
    });
  });
}
