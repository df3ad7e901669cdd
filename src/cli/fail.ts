// worker fail: unlocked jobs will not be tried again.
import type { Command } from "./command.ts";
import { actedSentence, type IdsArguments, withIds } from "./ids.ts";

interface FailArguments extends IdsArguments {
  reason: string;
}

export const failCommand: Command<FailArguments> = {
  command: "fail <ids..>",
  describe: "Fail unlocked jobs for good",
  builder: (yargs) =>
    withIds(yargs).option("reason", {
      type: "string",
      requiresArg: true,
      default: "Marked failed from the command line",
      describe: "Stored as the jobs' last error",
    }),
  handler: async (args) => {
    const { withUtils } = await import("./connection.ts");
    const { printActed } = await import("./output.ts");
    const jobs = await withUtils(args, (utils) => utils.permanentlyFailJobs(args.ids, args.reason));
    printActed(actedSentence("Failed", jobs, args.ids), jobs, args.json);
  },
};
