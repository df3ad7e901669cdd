// worker tasks: tasks, most failures first, with the number of workers that support each.

import { shownConditions } from "../../../domain/condition.ts";
import { valueText } from "../../../domain/words.ts";
import type { ListedTask, TaskSort } from "../../../insight/lists/list-tasks.ts";
import { print, printJson, printTable } from "../../output/print.ts";
import { connected } from "../../shell/connection.ts";
import { defineCommand } from "../../shell/globals.ts";
import { listingOptions, timeOf } from "./listing.ts";

const sorts = [
  ...["worst", "name", "-ready", "-running", "-failed", "-retrying", "oldest"],
] as const satisfies readonly TaskSort[];

export const tasksCommand = defineCommand({
  name: "tasks",
  describe: "List tasks with their jobs by condition and the number of workers that support them",
  options: listingOptions(sorts, "the name"),
  notes: "≈ marks an estimate from a sample, used for very large tables.",
  run: async ({ search, sort, limit, cursor = null, ...args }) => {
    const { listTasks } = await import("../../../insight/lists/list-tasks.ts");
    const { createSampler } = await import("../../../insight/snapshot/sampler.ts");
    const { taskListJson } = await import("../../../insight/json/task-json.ts");
    const { page, asOf } = await connected(args, async ({ database }) => {
      const { names } = await createSampler(database).pulse();
      const request = { search, sort, limit, cursor };
      return { page: await listTasks(database, request, names), asOf: names.asOf };
    });
    if (args.json) printJson(JSON.stringify(taskListJson(page, asOf)));
    else {
      printTable(
        ["TASK", ...shownConditions.map((one) => one.toUpperCase()), "OLDEST READY", "WORKERS"],
        page.tasks.map(rowOf),
      );
      if (page.nextCursor !== null) print(`more: --cursor ${page.nextCursor}`);
    }
    return undefined;
  },
});

function rowOf({ identifier, counts, oldestReadyMs, supportedBy, isUnsupported }: ListedTask) {
  const workers = isUnsupported === true ? "no worker" : `${supportedBy}`;
  return [
    identifier,
    ...shownConditions.map((one) => valueText(counts[one])),
    timeOf(oldestReadyMs),
    isUnsupported === null ? "?" : workers,
  ];
}
