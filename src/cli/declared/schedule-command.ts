// worker schedule: the actions on schedules that src/commands/schedules declares, and their list.
import { scheduleCommands } from "../../commands/schedules/index.ts";
import { optionName, type Values } from "../arguments/command.ts";
import { UsageError } from "../arguments/refusals.ts";
import { choice, text, whole } from "../arguments/values.ts";
import { print, printJson, printTable, time } from "../output/print.ts";
import { connected } from "../shell/connection.ts";
import { defineCommand, type GlobalArguments } from "../shell/globals.ts";
import { placesOf, tableOf } from "./fields.ts";
import { performTyped } from "./job-command.ts";

const actions = scheduleCommands.flatMap(({ http }) => http.action ?? []);
const tables = scheduleCommands.map((command) => tableOf(command, placesOf(command)));
/** The first to have an option explains it: `add` has the defaults. */
const merged = (of: readonly Values[]): Values => Object.assign({}, ...of.toReversed());
const options = merged(tables.map((table) => table.options));
const { payload } = merged(tables.map((table) => table.words));
const listOptions = {
  limit: whole("Maximum number of schedules in a list", 1, 100),
  cursor: text("Cursor printed by the previous page of a list", { form: "cursor" }),
};

export const scheduleCommand = defineCommand({
  name: "schedule",
  describe: "List schedules, cron entries that can be changed while workers run; add or change one",
  words: {
    action: choice("What to do; without it, schedules are listed", ["list", ...actions], {
      optional: true,
    }),
    identifier: {
      ...text("Name of the schedule", { optional: true, aliases: ["--identifier"] }),
      field: "identifier",
    },
    ...(payload === undefined ? {} : { payload }),
  },
  options: { ...options, ...listOptions },
  notes: `\
add needs --task and --pattern. change sets the given options, the others stay. run adds a job now
and leaves the next tick. list with a name prints one schedule.

With --revision an action fails if the schedule has been changed since. Ticks that were missed
while no worker ran, or during a pause, are added as far back as --backfill. --overlap skip adds no
job while the job of an earlier tick is unfinished, replace replaces it if it has not started.

Schedules need a table that "worker migrate --with schedules" adds. Workers of this library run
them, those of Graphile Worker do not.`,
  examples: scheduleCommands.flatMap(({ examples }) => examples),
  run: async ({ action = "list", ...given }) => {
    const args = given as GlobalArguments & Readonly<Record<string, unknown>>;
    const declaration = scheduleCommands.find(({ http }) => http.action === action);
    const allowed =
      declaration === undefined
        ? ["identifier", ...Object.keys(listOptions)]
        : keysOf(tableOf(declaration, placesOf(declaration)));
    refuseOthers(args, action, allowed);
    if (declaration === undefined) return list(args);
    if (given.identifier === undefined) {
      throw new UsageError("<identifier> is missing: the name of the schedule", "schedule");
    }
    return performTyped(declaration, args, `schedule ${action}`);
  },
});

const keysOf = ({ words, options: own }: ReturnType<typeof tableOf>): string[] =>
  Object.keys({ ...words, ...own });

/** Throws UsageError for an option of another action. */
function refuseOthers(
  given: Readonly<Record<string, unknown>>,
  action: string,
  allowed: readonly string[],
): void {
  for (const key of Object.keys({ ...options, ...listOptions, payload })) {
    if (given[key] === undefined || given[key] === false || allowed.includes(key)) continue;
    throw new UsageError(`schedule ${action} has no option ${optionName(key)}`, "schedule");
  }
}

async function list(args: GlobalArguments & Readonly<Record<string, unknown>>): Promise<0> {
  const { readSchedule, readSchedules } = await import("../../insight/read/list-schedules.ts");
  const { scheduleJson } = await import("../../insight/json/schedule-json.ts");
  const {
    identifier,
    limit = 100,
    cursor = null,
  } = args as {
    readonly identifier?: string;
    readonly limit?: number;
    readonly cursor?: string | null;
  };
  const page = await connected(args, async ({ database }) =>
    identifier === undefined
      ? readSchedules(database, { limit, after: cursor })
      : { schedules: [await readSchedule(database, identifier)], nextAfter: null },
  );
  const { schedules, nextAfter } = page;
  if (args.json) {
    const rows = schedules.map(scheduleJson).join(",");
    printJson(`{"schedules":[${rows}],"next_cursor":${JSON.stringify(nextAfter)}}`);
  } else if (schedules.length === 0) print("There are no schedules");
  else {
    printTable(
      ["NAME", "TASK", "PATTERN", "ZONE", "LAST TICK", "NEXT TICK", "OVERLAP", "REVISION"],
      schedules.map(({ definition: { entry, overlap }, revision, ...times }) => [
        ...[entry.identifier, entry.taskIdentifier, entry.expression, entry.timeZone],
        timeOf(times.lastMs),
        times.pausedMs === null ? timeOf(times.nextMs) : "paused",
        ...[overlap, String(revision)],
      ]),
    );
    if (nextAfter !== null) print(`more: --cursor ${nextAfter}`);
  }
  return 0;
}

const timeOf = (ms: number | null): string => time(ms === null ? null : new Date(ms));
