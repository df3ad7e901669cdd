// Tasks that only our members support, so stock workers skip their jobs. One kills its process in a given way; the
// other is a usual job.
import { defineTask, type Task } from "../../../src/worker/task/task.ts";
import { machineTime, type RunLog, runName } from "../../worker/run-log.ts";
import { type Duty, dutiful } from "../../worker/workload.ts";

export function ownTasks(log: RunLog, by: string): Task<never>[] {
  const all = dutiful(log, by);
  const [single] = all;
  if (single === undefined) throw new Error("there is a task for single duties");
  return [...all, { ...single, identifier: "ours" }, harmful(log, by)];
}

function harmful(log: RunLog, by: string): Task<never> {
  const task = defineTask<Duty>("harmful", ({ n, harm }, { job }) => {
    const { id, attempts: attempt } = job;
    log.write({ e: "start", run: runName(), n, job: id, by, attempt, t: machineTime() });
    // This process can write nothing more from here on.
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
