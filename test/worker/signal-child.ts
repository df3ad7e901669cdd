// A process with a worker and the task `slow`, for the tests of signals in run.test.ts. Arguments: the database's URL,
// whether the task ignores the abort (`true`), and optionally `stopTimeoutMs`. If `stopTimeoutMs` is given, the task
// also starts a timer that keeps the process running.
import { setTimeout as sleep } from "node:timers/promises";
import { run } from "../../src/worker/run.ts";
import { defineTask } from "../../src/worker/task/task.ts";

const [connectionString = "", ignoring, stopTimeoutMs] = process.argv.slice(2);
const print = (line: string) => process.stdout.write(`${line}\n`);
const slow = defineTask("slow", async (_, { signal }) => {
  print("running");
  await sleep(ignoring === "true" ? 60_000 : 300, undefined, { signal }).catch(() => {});
  if (stopTimeoutMs !== undefined) setInterval(() => {}, 1_000);
  if (ignoring === "true") await new Promise(() => {});
  print("finished");
});
const worker = await run({
  connectionString,
  tasks: [slow],
  recovery: false,
  abortGraceMs: 100,
  ...(stopTimeoutMs === undefined ? {} : { stopTimeoutMs: Number(stopTimeoutMs) }),
  plugins: [
    {
      name: "narrator",
      register: (hooks) => {
        if (ignoring === "true") {
          hooks.on("worker:shutdown", ({ reason }) => void print(`shutdown ${reason}`));
        }
      },
    },
  ],
});
await worker.stopped;
if (ignoring !== "true") print("stopped");
