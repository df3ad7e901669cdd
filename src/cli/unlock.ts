// worker unlock: frees the locks of workers that are known to be gone.
import type { Command } from "./command.ts";
import type { GlobalArguments } from "./connection.ts";

interface UnlockArguments extends GlobalArguments {
  workers: string[];
}

export const unlockCommand: Command<UnlockArguments> = {
  command: "unlock <workers..>",
  describe: "Free all locks of these workers (only when they no longer run)",
  builder: (yargs) =>
    yargs.positional("workers", {
      type: "string",
      array: true,
      demandOption: true,
      describe: "Worker ids",
    }),
  handler: async (args) => {
    const { withUtils } = await import("./connection.ts");
    const { print } = await import("./output.ts");
    const freed = await withUtils(args, (utils) => utils.forceUnlockWorkers(args.workers));
    print(
      args.json ? JSON.stringify(freed) : `Freed ${freed.jobs} jobs and ${freed.queues} queues`,
    );
  },
};
