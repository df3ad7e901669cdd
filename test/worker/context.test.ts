// Tests that a worker calls code of the application in the asynchronous context (AsyncLocalStorage) in which the worker
// was started, and never in the context of another job.
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, test } from "node:test";
import type { Plugin } from "../../src/worker/task/hooks.ts";
import { defineBatchTask, defineTask } from "../../src/worker/task/task.ts";
import { waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

for (const fastLane of [false, true]) {
  describe(fastLane ? "With a fast lane" : "In the safe mode", () => {
    test("handlers, interceptors and observers run in the context of the worker's start.", async () => {
      const storage = new AsyncLocalStorage<string>();
      const seen = new Set<string | undefined>();
      let ended = 0;
      const enter = (name: string) => {
        seen.add(storage.getStore());
        storage.enterWith(name);
      };
      const plugin: Plugin = {
        name: "contexts",
        register(hooks) {
          hooks.on("job:fetch", () => void seen.add(storage.getStore()));
          hooks.on("job:complete", ({ job }) => {
            seen.add(storage.getStore());
            if (job.taskIdentifier !== "intercepted") ended++;
          });
        },
      };
      const intercepting: Plugin = {
        name: "intercepting",
        register(hooks) {
          hooks.intercept("beforeJobRun", async () => {
            seen.add(storage.getStore());
          });
        },
      };
      const tasks = [
        defineTask("waits", async () => {
          enter("waits");
          await new Promise((resolve) => setImmediate(resolve));
        }),
        defineTask("at_once", () => enter("at once")),
        defineTask("throws", () => {
          enter("throws");
          throw new Error("fails");
        }),
        defineBatchTask("batch", (items: readonly unknown[]) => {
          enter("batch");
          return items.map(async () => {});
        }),
      ];
      const names = ["waits", "at_once", "batch"];
      const jobs = (count: number) =>
        Array.from({ length: count }, (_, n) => ({
          identifier: names[n % names.length] as string,
          payload: [n],
          spec: n % 5 === 0 ? { queueName: "q" } : {},
        }));
      for (const plugins of [[plugin], [plugin, intercepting]]) {
        ended = 0;
        await storage.run("start", () =>
          queue.startWorker({ tasks, fastLane, plugins, concurrency: 3, pollIntervalMs: 50 }),
        );
        await queue.utils.addJob("throws", {}, { maxAttempts: 1 });
        await queue.utils.addJobs(jobs(60));
        await waitUntil("all jobs have ended", () => ended >= 60);
        await queue.sql("delete from worker._private_jobs");
      }
      assert.deepEqual([...seen], ["start"]);
    });
  });
}
