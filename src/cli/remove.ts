// worker remove: the job with a key.
import type { Command } from "./command.ts";
import type { GlobalArguments } from "./connection.ts";

interface RemoveArguments extends GlobalArguments {
  key: string;
}

const sentences = {
  removed: "Removed the job",
  locked: "The job is running: it lost its key and will not be retried",
  absent: "There is no job with this key",
} as const;

export const removeCommand: Command<RemoveArguments> = {
  command: "remove <key>",
  describe: "Remove the job with this key",
  builder: (yargs) =>
    yargs.positional("key", { type: "string", demandOption: true, describe: "Job key" }),
  handler: async (args) => {
    const { withUtils } = await import("./connection.ts");
    const { printActed } = await import("./output.ts");
    const { outcome, job } = await withUtils(args, (utils) => utils.removeJob(args.key));
    printActed(sentences[outcome], job === null ? [] : [job], args.json);
  },
};
