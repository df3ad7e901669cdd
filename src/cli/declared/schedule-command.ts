// worker schedule: the list of schedules, and the actions on schedules that src/commands/schedules declares.
import { now } from "../../base/clock.ts";
import { scheduleCommands } from "../../commands/schedules/index.ts";
import { text, whole } from "../arguments/values.ts";
import { print, printJson, printTable, time } from "../output/print.ts";
import { withConnection } from "../shell/connection.ts";
import { type GroupArguments, groupCommand } from "./group-command.ts";

export const scheduleCommand = groupCommand({
  name: "schedule",
  describe: "List, add and change schedules: cron entries that can be changed while workers run",
  notes: `\
add needs --task and --pattern. change sets the given options, the others stay. run adds a job now
and does not move the next tick. list with a name prints one schedule.

With --revision, a change fails if the schedule has another revision. Jobs of ticks that were
missed while no worker ran, or during a pause, are added as far back as --backfill. --overlap skip
adds no job while the job of an earlier tick is unfinished; --overlap replace replaces that job; if
a worker has locked it, another job is added.

Schedules need a table that "worker migrate --with schedules" adds. Workers of this library run
them, Graphile workers do not.`,
  declarations: scheduleCommands,
  subject: { field: "identifier", describe: "Name of the schedule" },
  lists: ["list"],
  listOptions: {
    limit: whole("Maximum number of schedules in a list [default: 100]", 1, 100),
    cursor: text("Cursor printed by the previous page of a list", { form: "cursor" }),
  },
  list,
});

async function list(args: GroupArguments): Promise<0> {
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
  const page = await withConnection(args, async ({ database }) =>
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
        times.pausedMs === null ? nextOf(times.nextMs) : "paused",
        ...[overlap, String(revision)],
      ]),
    );
    if (nextAfter !== null) print(`more: --cursor ${nextAfter}`);
  }
  return 0;
}

/** Returns the time of the next tick as text. A time in the past follows the words `due since`. */
const nextOf = (ms: number | null): string =>
  ms !== null && ms < now() ? `due since ${timeOf(ms)}` : timeOf(ms);
const timeOf = (ms: number | null): string => time(ms === null ? null : new Date(ms));
