// worker queues: lists named queues, each with the number of its jobs and of its due jobs, and with its lock or pause.

import { print, printJson, printTable, time } from "../output/print.ts";
import { withConnection } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";

export const queuesCommand = defineCommand({
  name: "queues",
  describe: "List named queues",
  run: async (args) => {
    const { listQueues } = await import("../../insight/read/list-queues.ts");
    const { queueJson } = await import("../../insight/json/overview-rows.ts");
    const { listPauses } = await import("../../insight/controls/list-pauses.ts");
    const { pausedSubject } = await import("../../insight/controls/pause-text.ts");
    const { queues, pauses } = await withConnection(args, async ({ database }) => ({
      queues: await listQueues(database),
      pauses: await listPauses(database),
    }));
    if (args.json) printJson(JSON.stringify({ queues: queues.map(queueJson) }));
    else {
      printTable(
        ["QUEUE", "JOBS", "DUE", "LOCKED AT", "LOCKED BY"],
        queues.map((queue) => [
          queue.queueName,
          String(queue.jobCount),
          String(queue.readyCount),
          time(queue.lockedAt),
          queue.isPaused ? "paused" : (queue.lockedBy ?? ""),
        ]),
      );
      const [first] = pauses;
      if (first?.scope === "all") print(pausedSubject(first));
    }
    return undefined;
  },
});
