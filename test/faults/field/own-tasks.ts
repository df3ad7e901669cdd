// The tasks of the test stand's workers of this library: those of the workload, and others that the stand's Graphile
// workers do not have. The others are ordinary tasks, a task that fails when its signal aborts, a task that ends its
// process, and the task of paying-task.ts.
import { once } from "node:events";
import { defineTask, type Task } from "../../../src/worker/task/task.ts";
import { machineTime, type RunLog, runName } from "../../worker/run-log.ts";
import { type Behavior, workloadTasks } from "../../worker/workload.ts";
import { payingTask } from "./paying-task.ts";

/** The identifiers of ordinary tasks whose jobs are under a limit in the group `limits`. */
const LIMITED_TASKS = ["ten", "three", "rated", "trickle", "mail_a", "mail_b", "tenant"];

export function ownTasks(log: RunLog, by: string): Task<never>[] {
  const all = workloadTasks(log, by);
  const [single] = all;
  if (single === undefined) throw new Error("there is no task named single");
  return [
    ...all,
    { ...single, identifier: "ours" },
    ...LIMITED_TASKS.map((identifier) => ({ ...single, identifier })),
    harmful(log, by),
    held(log, by),
    payingTask(log, by),
  ];
}

/** Runs until its signal aborts, and then fails. */
function held(log: RunLog, by: string): Task<never> {
  const task = defineTask<Behavior>("held", async ({ n }, { job, signal }) => {
    const run = runName();
    log.write({ e: "start", run, n, job: job.id, by, attempt: job.attempts, t: machineTime() });
    await once(signal, "abort");
    log.write({ e: "aborted", run, t: machineTime() });
    log.write({ e: "end", run, ok: false, t: machineTime() });
    throw signal.reason;
  });
  return task as Task<never>;
}

function harmful(log: RunLog, by: string): Task<never> {
  const task = defineTask<Behavior>("harmful", ({ n, harm }, { job }) => {
    const { id, attempts: attempt } = job;
    log.write({ e: "start", run: runName(), n, job: id, by, attempt, t: machineTime() });
    // The last line that this process can write.
    log.write({ e: "dead", by, n, t: machineTime() });
    if (harm === "kill") process.kill(process.pid, "SIGKILL");
    if (harm === "exit") process.exit(3);
    const taken: unknown[] = [];
    // V8's limit does not include buffers. Their pages use the machine's memory once they are written.
    const more = () =>
      harm === "memory" ? new Array(100_000).fill(taken.length) : Buffer.alloc(1_048_576, "x");
    for (;;) taken.push(more());
  });
  return task as Task<never>;
}
