// worker complete: takes unlocked jobs out of the queue as done.
import type { Command } from "./command.ts";
import { actedSentence, type IdsArguments, withIds } from "./ids.ts";

export const completeCommand: Command<IdsArguments> = {
  command: "complete <ids..>",
  describe: "Delete unlocked jobs as done",
  builder: withIds,
  handler: async (args) => {
    const { withUtils } = await import("./connection.ts");
    const { printActed } = await import("./output.ts");
    const jobs = await withUtils(args, (utils) => utils.completeJobs(args.ids));
    printActed(actedSentence("Completed", jobs, args.ids), jobs, args.json);
  },
};
