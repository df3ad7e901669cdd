// worker show: one job with its payload and last error.
import type { Command } from "./command.ts";
import type { GlobalArguments } from "./connection.ts";

interface ShowArguments extends GlobalArguments {
  id: string;
}

export const showCommand: Command<ShowArguments> = {
  command: "show <id>",
  describe: "Show one job",
  builder: (yargs) =>
    yargs.positional("id", { type: "string", demandOption: true, describe: "Job id" }),
  handler: async (args) => {
    const { withUtils } = await import("./connection.ts");
    const { print, time } = await import("./output.ts");
    const { listedJobJson } = await import("../domain/job.ts");
    const { WorkerError } = await import("../base/errors.ts");
    const job = await withUtils(args, (utils) => utils.getJob(args.id));
    if (job === null) throw new WorkerError("not_found", `there is no job ${args.id}`);
    if (args.json) return print(listedJobJson(job));
    print(`job ${job.id}  ${job.taskIdentifier}  ${job.state}`);
    print(`queue ${job.queueName ?? "-"}  key ${job.key ?? "-"}  priority ${job.priority}`);
    print(`attempts ${job.attempts} of ${job.maxAttempts}  run at ${time(job.runAt)}`);
    print(`created ${time(job.createdAt)}  updated ${time(job.updatedAt)}`);
    if (job.lockedAt !== null) print(`locked ${time(job.lockedAt)} by ${job.lockedBy}`);
    if (job.flagsText !== null) print(`flags ${job.flagsText}`);
    print(`payload ${job.payloadText}`);
    if (job.lastError !== null) print(`last error:\n${job.lastError}`);
  },
};
