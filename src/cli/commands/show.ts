// worker show: one job with its payload and last error.
import { WorkerError } from "../../base/errors.ts";
import { type Job, listedJobJson } from "../../domain/job.ts";
import { required, text } from "../arguments/values.ts";
import { print, printJson, printLines, time } from "../output/print.ts";
import { connected } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";

export const showCommand = defineCommand({
  name: "show",
  describe: "Show one job",
  words: { id: required(text("Job id")) },
  run: async ({ id, ...args }) => {
    const { getJob } = await import("../../queue/read/get-job.ts");
    const job = await connected(args, ({ database }) => getJob(database, id));
    if (job === null) throw new WorkerError("not_found", `there is no job ${id}`);
    if (args.json) printJson(listedJobJson(job));
    else printJob(job);
    return undefined;
  },
});

function printJob(job: Job): void {
  print(`job ${job.id}  ${job.taskIdentifier ?? "-"}  ${job.state}`);
  print(`queue ${job.queueName ?? "-"}  key ${job.key ?? "-"}  priority ${job.priority}`);
  print(`attempts ${job.attempts} of ${job.maxAttempts}  run at ${time(job.runAt)}`);
  print(`created ${time(job.createdAt)}  updated ${time(job.updatedAt)}`);
  if (job.lockedAt !== null) print(`locked ${time(job.lockedAt)} by ${job.lockedBy ?? "-"}`);
  if (job.flagsText !== null) print(`flags ${job.flagsText}`);
  print(`payload ${job.payloadText}`);
  if (job.lastError === null) return;
  print("last error:");
  printLines(job.lastError);
}
