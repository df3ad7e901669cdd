// A process with a worker, controlled by test/worker/worker-process.ts. It prints its events on stdout. The line
// "release" on stdin ends the jobs of the tasks `held`, `freezing` and `refused`. The end of stdin ends these jobs,
// too, and stops the worker.
import { createInterface } from "node:readline";
import type { WorkerOptions } from "../../src/worker/options/worker-options.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { Worker } from "../../src/worker/worker.ts";

const options = JSON.parse(process.argv[2] ?? "{}") as Omit<WorkerOptions, "tasks">;
const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const released = Promise.withResolvers<void>();
const nap = new Int32Array(new SharedArrayBuffer(4));

const tasks = [
  defineTask("quick", () => {}),
  // A job of this task ends only when it is released. It ignores its signal, for example after the loss of the lease.
  defineTask("held", () => released.promise),
  // The first attempt freezes the process at once, before the worker returns other fetched jobs to the database.
  defineTask("freezing", (_, { job }) => {
    if (job.attempts === 1) process.kill(process.pid, "SIGSTOP");
    return released.promise;
  }),
  // Blocks the thread, as a long computation does.
  defineTask<{ ms: number }>("blocking", ({ ms }) => {
    Atomics.wait(nap, 0, 0, ms);
  }),
  defineTask("poison", () => {
    process.kill(process.pid, "SIGKILL");
    return new Promise(() => {});
  }),
  defineTask("refused", async () => {
    await released.promise;
    throw new Error("refused");
  }),
];
const level = (name: string) => (fields: object, message: string) =>
  print({ event: "log", level: name, message, ...fields });
const logger = { debug() {}, info: level("info"), warn: level("warn"), error: level("error") };
const worker = new Worker({ tasks, logger, ...options });
const { hooks } = worker;
hooks.on("job:start", ({ job }) => print({ event: "started", id: job.id, attempts: job.attempts }));
hooks.on("job:success", ({ job }) => print({ event: "completed", id: job.id }));
hooks.on("job:interrupted", ({ jobId, reason }) =>
  print({ event: "interrupted", id: jobId, reason }),
);
hooks.on("worker:leaseLost", (event) => print({ event: "leaseLost", ...event }));
hooks.on("worker:recovered", (event) => print({ event: "recovered", ...event }));
await worker.start();
print({ event: "ready", workerId: worker.id });

for await (const line of createInterface({ input: process.stdin })) {
  if (line === "release") released.resolve();
}
released.resolve();
await worker.stop();
print({ event: "stopped" });
