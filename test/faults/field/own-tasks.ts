// The tasks of the workers of this library in a test stand: the tasks of the workload (workload.ts), copies of the task
// `single` with other identifiers, the tasks `held` and `harmful`, and the task of paying-task.ts. The stand's Graphile
// workers have only the tasks of the workload.
import { once } from "node:events";
import { defineTask, type Task } from "../../../src/worker/task/task.ts";
import { machineTime, type RunLog, runName } from "../../worker/run-log.ts";
import { type Behavior, workloadTasks } from "../../worker/workload.ts";
import { payingTask } from "./paying-task.ts";

/** The identifiers of copies of the task `single`. The fault group `limits` sets limits for their jobs. */
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
    // This line is written before the damage, because the process may be unable to write a line afterwards.
    log.write({ e: "dead", by, n, t: machineTime() });
    if (harm === "kill") process.kill(process.pid, "SIGKILL");
    if (harm === "exit") process.exit(3);
    const taken: unknown[] = [];
    // V8's limit does not include buffers. The memory pages of a buffer use the machine's memory only once they are
    // written, so the buffers are filled.
    const more = () =>
      harm === "memory" ? new Array(100_000).fill(taken.length) : Buffer.alloc(1_048_576, "x");
    for (;;) taken.push(more());
  });
  return task as Task<never>;
}
