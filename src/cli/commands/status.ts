// worker status: the number of jobs, in all and in each condition.

import { shownConditions } from "../../domain/condition.ts";
import { printJson, printTable } from "../output/print.ts";
import { connected } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";

export const statusCommand = defineCommand({
  name: "status",
  aliases: ["stats"],
  describe: "Count jobs by condition",
  notes:
    "With --json it also has the four states of the HTTP API: there, ready includes blocked and due retries, and locked is fetched and running.",
  run: async (args) => {
    const { countConditions } = await import("../../insight/read/count-conditions.ts");
    const counts = await connected(args, ({ database }) => countConditions(database));
    if (args.json) printJson(JSON.stringify(counts));
    else {
      const { total, conditions } = counts;
      printTable(
        ["TOTAL", ...shownConditions.map((one) => one.toUpperCase())],
        [[total, ...shownConditions.map((one) => conditions[one])].map(String)],
      );
    }
    return undefined;
  },
});
