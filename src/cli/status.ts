// worker status: is the queue healthy, in five numbers.
import type { Command } from "./command.ts";

export const statusCommand: Command = {
  command: "status",
  describe: "Count jobs by state",
  handler: async (args) => {
    const { withUtils } = await import("./connection.ts");
    const { print, printTable } = await import("./output.ts");
    const counts = await withUtils(args, (utils) => utils.countJobs());
    if (args.json) return print(JSON.stringify(counts));
    const names = ["total", "ready", "scheduled", "locked", "failed"] as const;
    printTable(
      names.map((name) => name.toUpperCase()),
      [names.map((name) => String(counts[name]))],
    );
  },
};
