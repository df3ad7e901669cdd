// worker cron: cron entries, and their overdue ticks.
import type { CronPage, CronSort } from "../../../insight/lists/list-cron.ts";
import { print, printJson, printTable } from "../../output/print.ts";
import { connected } from "../../shell/connection.ts";
import { defineCommand } from "../../shell/globals.ts";
import type { SameQueue } from "../../shell/same-queue.ts";
import { listingOptions, timeOf } from "./listing.ts";

const sorts = ["next", "identifier", "-last"] as const satisfies readonly CronSort[];

export const cronCommand = defineCommand({
  name: "cron",
  describe: "List cron entries with their last and next ticks",
  options: listingOptions(sorts, "the name or the task"),
  notes: "Patterns and next ticks (UTC) are shown while a live worker has the entry.",
  run: async ({ search, sort, limit, cursor = null, ...args }) => {
    const { listCron } = await import("../../../insight/lists/list-cron.ts");
    const { cronListJson } = await import("../../../insight/json/cron-json.ts");
    const page = await connected(args, ({ database }) =>
      listCron(database, { search, sort, limit, cursor }),
    );
    if (args.json) printJson(cronListJson(page));
    else printCron(page, args.suggest);
    return undefined;
  },
});

function printCron({ entries, nextCursor }: CronPage, { line }: SameQueue): void {
  printTable(
    ["ENTRY", "TASK", "PATTERN", "LAST TICK", "NEXT TICK", "WORKERS", "LATE SINCE"],
    entries.map((one) => [
      one.identifier,
      one.task ?? "?",
      one.match ?? "?",
      timeOf(one.lastExecutionMs),
      timeOf(one.nextExecutionMs),
      String(one.workers),
      timeOf(one.lateSinceMs),
    ]),
  );
  for (const { identifier, lastExecutionMs, isAhead } of entries) {
    if (isAhead) {
      print(
        `${identifier} is ahead of the clock: nothing is scheduled before ${timeOf(lastExecutionMs)}, its last tick; "${line("worker doctor")}" has the fix`,
      );
    }
  }
  if (nextCursor !== null) print(`more: --cursor ${nextCursor}`);
}
