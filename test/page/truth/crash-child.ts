// A process with one worker. datasets.ts starts it, with a connection string and the names of the worker's tasks as
// arguments. A job of the task `exit` ends the process with exit code 3, and a job of `memory` uses up the process's
// memory. Jobs of `held` and `beside` run until the process ends.
import { defineTask } from "../../../src/worker/task/task.ts";
import { Worker } from "../../../src/worker/worker.ts";

const [, , connectionString = "", tasks = ""] = process.argv;

const all = {
  exit: defineTask("exit", () => {
    // In this half second, jobs that were fetched with this one can start, so that they run at the crash.
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
