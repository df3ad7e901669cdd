// worker status: prints the number of all jobs and of the jobs in each condition, up to 10 pauses, and a note on
// limits.

import { shownConditions } from "../../domain/condition.ts";
import { countText } from "../../domain/words.ts";
import { print, printJson, printTable } from "../output/print.ts";
import { withConnection } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";

const MAX_PAUSES = 10;

export const statusCommand = defineCommand({
  name: "status",
  aliases: ["stats"],
  describe: "Count jobs by condition",
  notes:
    "With --json the jobs in each of the four states of the HTTP API are counted, too. In these states, ready includes blocked jobs and due retries, and locked means fetched or running.",
  run: async (args) => {
    const { countConditions } = await import("../../insight/read/count-conditions.ts");
    const { listPauses } = await import("../../insight/controls/list-pauses.ts");
    const { pausedSubject } = await import("../../insight/controls/pause-text.ts");
    const { limitsNote } = await import("../../insight/limits/unreported.ts");
    const { counts, pauses, note } = await withConnection(args, async ({ database }) => ({
      counts: await countConditions(database),
      pauses: await listPauses(database),
      note: await limitsNote(database),
    }));
    if (args.json)
      printJson(JSON.stringify({ ...counts, pauses: pauses.length, limits_note: note }));
    else {
      const { total, conditions } = counts;
      printTable(
        ["TOTAL", ...shownConditions.map((one) => one.toUpperCase())],
        [[total, ...shownConditions.map((one) => conditions[one])].map(String)],
      );
      for (const pause of pauses.slice(0, MAX_PAUSES)) print(pausedSubject(pause));
      const others = pauses.length - MAX_PAUSES;
      if (others > 0)
        print(args.suggest.text(`${countText(others, "other pause")}: "worker paused" lists them`));
      if (note !== null) print(`Limits: ${note}`);
    }
    return undefined;
  },
});
