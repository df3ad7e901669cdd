// worker workers: who holds locks, and who says that it is alive.
import type { Command } from "./command.ts";

export const workersCommand: Command = {
  command: "workers",
  describe: "List workers by lock and by heartbeat",
  handler: async (args) => {
    const { withUtils } = await import("./connection.ts");
    const { print, printTable, time } = await import("./output.ts");
    const { locked, active } = await withUtils(args, async (utils) => ({
      locked: await utils.listLockedWorkers(),
      active: await utils.listActiveWorkers(),
    }));
    if (args.json) return print(JSON.stringify({ locked, active }));
    printTable(
      ["WORKER", "LOCKED JOBS", "LOCKED QUEUES"],
      locked.map((one) => [one.workerId, String(one.lockedJobs), String(one.lockedQueues)]),
    );
    print("");
    printTable(
      ["WORKER", "LAST HEARTBEAT", "STARTED", "STALE"],
      active.map((one) => [
        one.workerId,
        time(one.lastHeartbeatAt),
        time(one.startedAt),
        one.isStale ? "stale" : "",
      ]),
    );
  },
};
