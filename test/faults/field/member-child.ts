// The program of a member (member.ts). It runs a worker with run(), as an application does, with the tasks of
// own-tasks.ts. The process ends on SIGTERM. It writes events to stdout, and its log to stderr.
import { flushCompileCache } from "node:module";
import { createLogger } from "../../../src/base/logger.ts";
import type { WorkerOptions } from "../../../src/worker/options/worker-options.ts";
import { run } from "../../../src/worker/run.ts";
import { RunLog } from "../../worker/run-log.ts";
import { FORBIDDEN } from "../../worker/workload.ts";
import { type KillPoint, killAt } from "./kill-point.ts";
import { ownTasks } from "./own-tasks.ts";

export interface MemberDuty {
  readonly by: string;
  readonly log: string;
  readonly connectionString: string;
  readonly options: Omit<Partial<WorkerOptions>, "tasks">;
  readonly killAt?: KillPoint;
}

const duty = JSON.parse(process.argv[2] ?? "{}") as MemberDuty;
const log = new RunLog(duty.log);
const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const started = duty.killAt === undefined ? null : killAt(duty.killAt, log, duty.by);
await work(duty);

async function work({ by, connectionString, options }: MemberDuty): Promise<void> {
  const logger = await createLogger({ format: "json" });
  const worker = await run({
    ...{
      connectionString,
      logger,
      tasks: ownTasks(log, by),
      forbiddenFlags: [FORBIDDEN],
    },
    ...options,
    plugins: [
      {
        name: "narrator",
        register(hooks) {
          hooks.on("worker:leaseLost", (event) => print({ event: "leaseLost", ...event }));
          hooks.on("worker:recovered", (event) => print({ event: "recovered", ...event }));
          if (started !== null) hooks.on("job:start", started);
          hooks.on("job:interrupted", (event) => print({ event: "interrupted", ...event }));
        },
      },
    ],
  });
  print({ event: "ready", workerId: worker.id, pid: process.pid });
  // By default, Node writes its compile cache when the process exits, which a killed member cannot do. The next member
  // uses the cache.
  flushCompileCache();
  await worker.stopped;
  print({ event: "stopped" });
}
