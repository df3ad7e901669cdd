// worker paused: lists the pauses with end, author and reason, and whether the workers have acknowledged them.
import { print, printJson, printTable, time } from "../../output/print.ts";
import { withConnection } from "../../shell/connection.ts";
import { defineCommand } from "../../shell/globals.ts";

export const pausedCommand = defineCommand({
  name: "paused",
  describe: "List pauses, and the workers that have not acknowledged them",
  examples: ["worker paused", "worker paused --json"],
  run: async (args) => {
    const { listPauses } = await import("../../../insight/controls/list-pauses.ts");
    const { readAcknowledgement } = await import("../../../insight/controls/acknowledgement.ts");
    const { acknowledgementJson, acknowledgementText, pauseJson } = await import(
      "../../../insight/controls/pause-text.ts"
    );
    const { pausesNote } = await import("../../../insight/limits/unreported.ts");
    const [pauses, workers, note] = await withConnection(args, async ({ database }) => {
      const found = await listPauses(database);
      return [found, await readAcknowledgement(database), await pausesNote(database, found)];
    });
    if (args.json) {
      const rows = pauses.map(({ scope, name, ...rest }) => ({ scope, name, ...pauseJson(rest) }));
      printJson(JSON.stringify({ pauses: rows, ...acknowledgementJson(workers), note }));
    } else if (pauses.length === 0) print("Nothing is paused");
    else {
      printTable(
        ["WHAT", "NAME", "SINCE", "UNTIL", "BY", "REASON"],
        pauses.map(({ scope, name, pausedAt, resumeAt, hasEnded, pausedBy, reason }) => [
          ...[scope, name ?? "", time(pausedAt), hasEnded ? "ended" : time(resumeAt)],
          ...[pausedBy ?? "", reason ?? ""],
        ]),
      );
      const acknowledged = acknowledgementText(workers);
      if (acknowledged !== null) print(`The pauses are ${acknowledged}`);
      if (note !== null) print(note);
    }
    return undefined;
  },
});
