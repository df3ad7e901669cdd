// worker status: is the queue healthy, in five numbers.

import { printJson, printTable } from "../output/print.ts";
import { connected } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";

const names = ["total", "ready", "scheduled", "locked", "failed"] as const;

export const statusCommand = defineCommand({
  name: "status",
  aliases: ["stats"],
  describe: "Count jobs by state",
  run: async (args) => {
    const { countJobs } = await import("../../queue/read/count-jobs.ts");
    const counts = await connected(args, ({ database }) => countJobs(database));
    if (args.json) printJson(JSON.stringify(counts));
    else {
      const upper = names.map((name) => name.toUpperCase());
      printTable(upper, [names.map((name) => String(counts[name]))]);
    }
    return undefined;
  },
});
