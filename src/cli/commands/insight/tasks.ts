// worker tasks: lists tasks with their jobs by condition and the number of workers that support each task.

import { shownConditions } from "../../../domain/condition.ts";
import { valueText } from "../../../domain/words.ts";
import type { ListedTask, TaskSort } from "../../../insight/lists/list-tasks.ts";
import { print, printJson, printTable } from "../../output/print.ts";
import { withConnection } from "../../shell/connection.ts";
import { defineCommand } from "../../shell/globals.ts";
import { listingOptions, timeOf } from "./listing.ts";

const sorts = [
  ...["worst", "name", "-ready", "-blocked", "-running", "-failed", "-retrying", "oldest"],
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
    const { listPauses } = await import("../../../insight/controls/list-pauses.ts");
    const { pausedSubject } = await import("../../../insight/controls/pause-text.ts");
    const { page, asOf, pauses } = await withConnection(args, async ({ database }) => {
      const { names } = await createSampler(database).pulse();
      const request = { search, sort, limit, cursor };
      const page = await listTasks(database, request, names);
      return { page, asOf: names.asOf, pauses: await listPauses(database) };
    });
    if (args.json) printJson(JSON.stringify(taskListJson(page, asOf)));
    else {
      printTable(
        ["TASK", ...shownConditions.map((one) => one.toUpperCase()), "OLDEST READY", "WORKERS"],
        page.tasks.map(rowOf),
      );
      const [first] = pauses;
      if (first?.scope === "all") print(pausedSubject(first));
      if (page.nextCursor !== null) print(`more: --cursor ${page.nextCursor}`);
    }
    return undefined;
  },
});

function rowOf(task: ListedTask) {
  const { identifier, counts, oldestReadyMs, supportedBy, isUnsupported, pause } = task;
  const workers = isUnsupported === true ? "no worker" : `${supportedBy}`;
  return [
    identifier,
    ...shownConditions.map((one) => valueText(counts[one])),
    timeOf(oldestReadyMs),
    (isUnsupported === null ? "?" : workers) + (pause === null ? "" : ", paused"),
  ];
}
