// worker queues: named queues, their locks and how much waits in them.
import type { Command } from "./command.ts";

export const queuesCommand: Command = {
  command: "queues",
  describe: "List named queues",
  handler: async (args) => {
    const { withUtils } = await import("./connection.ts");
    const { print, printTable, time } = await import("./output.ts");
    const queues = await withUtils(args, (utils) => utils.listQueues());
    if (args.json) return print(JSON.stringify(queues));
    printTable(
      ["QUEUE", "JOBS", "READY", "LOCKED AT", "LOCKED BY"],
      queues.map((queue) => [
        queue.queueName,
        String(queue.jobCount),
        String(queue.readyCount),
        time(queue.lockedAt),
        queue.lockedBy ?? "",
      ]),
    );
  },
};
