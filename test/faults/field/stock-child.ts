// The process of a member (member.ts) that is a Graphile worker. Its only event, `ready`, is written to stdout.
import { Logger, run } from "graphile-worker";
import { RunLog } from "../../worker/run-log.ts";
import { stockTasks } from "../../worker/stock-crew.ts";
import { FORBIDDEN } from "../../worker/workload.ts";
import type { MemberDuty } from "./member-child.ts";

const { by, log, connectionString, options } = JSON.parse(process.argv[2] ?? "{}") as MemberDuty;
const runner = await run({
  ...{ connectionString, schema: "worker", forbiddenFlags: [FORBIDDEN] },
  ...{ concurrency: options.concurrency ?? 5, pollInterval: options.pollIntervalMs ?? 1_000 },
  logger: new Logger(() => () => {}),
  taskList: stockTasks(new RunLog(log), by),
});
process.stdout.write(`${JSON.stringify({ event: "ready", workerId: by, pid: process.pid })}\n`);
await runner.promise;
