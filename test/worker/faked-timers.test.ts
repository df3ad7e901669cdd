// Tests a worker and WorkerUtils in a process in which timers and clocks are replaced, as the tests of an application
// may replace them.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import nodeTimers from "node:timers";
import promises from "node:timers/promises";
import { defineTask } from "../../src/worker/task/task.ts";
import { workerQueue } from "./worker-queue.ts";

const queue = workerQueue();

test("With replaced timers and clocks, jobs are added and run, and a worker stops.", async () => {
  await queue.utils.addJob("t", { n: 0 });
  const ran: number[] = [];
  const all = Promise.withResolvers<void>();
  const task = defineTask<{ n: number }>("t", ({ n }) => {
    ran.push(n);
    if (ran.length === 5) all.resolve();
  });
  const apis = [
    "setTimeout",
    "setInterval",
    "setImmediate",
    "clearTimeout",
    "clearInterval",
  ] as const;
  const places = [globalThis, nodeTimers, promises] as unknown as Record<string, unknown>[];
  const fakes: { readonly mock: { restore(): void } }[] = places.flatMap((place) =>
    apis
      .filter((name) => typeof place[name] === "function")
      .map((name) => mock.method(place, name as never, (() => new Promise(() => {})) as never)),
  );
  fakes.push(mock.method(Date, "now", () => 0));
  fakes.push(mock.method(performance, "now", () => 0));
  try {
    await queue.utils.addJob("t", { n: 1 });
    await queue.utils.addJob("t", { n: 2 }, { jobKey: "k" });
    await queue.utils.addJobs([{ identifier: "t", payload: { n: 3 } }]);
    await queue.utils.copyJobs([{ identifier: "t", payload: { n: 4 } }]);
    const worker = await queue.startWorker({ tasks: [task] });
    await all.promise;
    await worker.stop();
  } finally {
    for (const fake of fakes) fake.mock.restore();
  }
  assert.deepEqual(ran.sort(), [0, 1, 2, 3, 4]);
  assert.deepEqual(await queue.remaining(), []);
});
