// A process with a worker for the tasks of workload.ts, controlled by worker-process.ts. The worker stops at the end of
// stdin.
import { once } from "node:events";
import type { WorkerOptions } from "../../src/worker/options/worker-options.ts";
import { Worker } from "../../src/worker/worker.ts";
import { RunLog } from "./run-log.ts";
import type { WorkloadLog } from "./worker-process.ts";
import { FORBIDDEN, workloadTasks } from "./workload.ts";

const { workload, ...options } = JSON.parse(process.argv[2] ?? "{}") as Omit<
  WorkerOptions,
  "tasks"
> & { readonly workload: WorkloadLog };
const log = new RunLog(workload.log);
const tasks = workloadTasks(log, workload.by);
const worker = new Worker({ tasks, forbiddenFlags: [FORBIDDEN], ...options });
await worker.start();
process.stdout.write(`${JSON.stringify({ event: "ready", workerId: worker.id })}\n`);
await once(process.stdin.resume(), "end");
await worker.stop();
log.close();
