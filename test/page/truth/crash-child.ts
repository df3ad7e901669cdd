// A worker whose process ends with its job: `exit` ends it with exit code 3, `memory` uses up its memory. Jobs of
// the other tasks run until the process ends.
import { defineTask } from "../../../src/worker/task/task.ts";
import { Worker } from "../../../src/worker/worker.ts";

const [, , connectionString = "", tasks = ""] = process.argv;

const all = {
  exit: defineTask("exit", () => {
    // Jobs that were fetched with this one start before the process ends.
    setTimeout(() => process.exit(3), 500);
    return new Promise(() => {});
  }),
  memory: defineTask("memory", async () => {
    const kept: object[] = [];
    for (;;) {
      for (let n = 0; n < 100_000; n++) kept.push({ n });
      await new Promise(setImmediate);
    }
  }),
  held: defineTask("held", () => new Promise(() => {})),
  beside: defineTask("beside", () => new Promise(() => {})),
};
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const names = tasks.split(",") as (keyof typeof all)[];
const worker = new Worker({
  connectionString,
  logger,
  concurrency: 4,
  tasks: names.map((name) => all[name]),
  recovery: { heartbeatIntervalMs: 250, thresholdMs: 3_000, resilientThresholdMs: 5_000 },
});
await worker.start();
