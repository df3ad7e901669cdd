// The command `worker cron` lists cron entries and schedules: their last tick, their next tick, and the time of the
// first tick that was missed, if there is one.
import { timeInZone } from "../../../domain/cron/time-zone.ts";
import type { CronPage, CronSort, ListedCronEntry } from "../../../insight/lists/cron/list-cron.ts";
import { print, printJson, printTable } from "../../output/print.ts";
import { withConnection } from "../../shell/connection.ts";
import { defineCommand } from "../../shell/globals.ts";
import type { SameQueue } from "../../shell/same-queue.ts";
import { listingOptions, timeOf } from "./listing.ts";

const sorts = ["next", "identifier", "-last"] as const satisfies readonly CronSort[];

export const cronCommand = defineCommand({
  name: "cron",
  describe: "List cron entries and schedules with their last and next ticks",
  options: listingOptions(sorts, "the name or the task"),
  notes:
    "Next ticks are in the time zone of the entry. The pattern and the next tick of a worker's cron entry are shown while a worker with this entry sends heartbeats. The pattern of a schedule is always shown.",
  run: async ({ search, sort, limit, cursor = null, ...args }) => {
    const { listCron } = await import("../../../insight/lists/cron/list-cron.ts");
    const { cronListJson } = await import("../../../insight/json/cron-json.ts");
    const page = await withConnection(args, ({ database }) =>
      listCron(database, { search, sort, limit, cursor }),
    );
    if (args.json) printJson(cronListJson(page));
    else printCron(page, args.suggest);
    return undefined;
  },
});

function printCron({ entries, nextCursor }: CronPage, { line }: SameQueue): void {
  printTable(
    ["ENTRY", "TASK", "PATTERN", "ZONE", "LAST TICK", "NEXT TICK", "WORKERS", "LATE SINCE"],
    entries.map((one) => [
      one.identifier,
      one.task ?? "?",
      one.match ?? "?",
      one.timeZone ?? "?",
      timeOf(one.lastExecutionMs),
      nextTick(one),
      one.source === "schedule" ? "any" : String(one.workers),
      timeOf(one.lateSinceMs),
    ]),
  );
  for (const {
    identifier,
    source,
    lastExecutionMs,
    nextExecutionMs,
    isAhead,
    differs,
  } of entries) {
    if (differs !== null) print(`${identifier} ${differs}`);
    if (isAhead) {
      const [tick, untilMs] =
        source === "code" ? ["last", lastExecutionMs] : ["next", nextExecutionMs];
      print(
        `${identifier} is ahead of the clock: no job is added before its ${tick} tick at ${timeOf(untilMs)}; "${line("worker doctor")}" has the fix`,
      );
    }
  }
  if (nextCursor !== null) print(`more: --cursor ${nextCursor}`);
}

/**
 * Returns the time of the next tick in the entry's time zone. For a paused schedule, returns `paused`. If the time is
 * unknown, returns an empty text.
 */
function nextTick({ nextExecutionMs: ms, timeZone, pausedMs }: ListedCronEntry): string {
  if (pausedMs !== null) return "paused";
  const isUtc = timeZone === null || timeZone === "UTC";
  return ms === null || isUtc ? timeOf(ms) : timeInZone(ms, timeZone);
}
