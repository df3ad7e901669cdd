// worker workers: lists the workers that hold locks on jobs or queues, and the workers that have sent heartbeats.
import type { ActiveWorker } from "../../insight/read/list-active-workers.ts";
import type { LockedWorker } from "../../insight/read/list-locked-workers.ts";
import { print, printJson, printTable, time } from "../output/print.ts";
import { withConnection } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";

export const workersCommand = defineCommand({
  name: "workers",
  describe: "List workers with their locks and heartbeats",
  run: async (args) => {
    const { listLockedWorkers } = await import("../../insight/read/list-locked-workers.ts");
    const { listActiveWorkers } = await import("../../insight/read/list-active-workers.ts");
    const { activeWorkerJson, lockedWorkerJson } = await import(
      "../../insight/json/overview-rows.ts"
    );
    const { locked, active } = await withConnection(args, async ({ database }) => ({
      locked: await listLockedWorkers(database),
      active: await listActiveWorkers(database),
    }));
    if (args.json) {
      const workers = JSON.stringify(locked.map(lockedWorkerJson));
      printJson(`{"workers":${workers},"active_workers":[${active.map(activeWorkerJson)}]}`);
    } else printWorkers(locked, active);
    return undefined;
  },
});

function printWorkers(locked: readonly LockedWorker[], active: readonly ActiveWorker[]): void {
  printTable(
    ["WORKER", "LOCKED JOBS", "LOCKED QUEUES"],
    locked.map((one) => [one.workerId, String(one.lockedJobs), String(one.lockedQueues)]),
  );
  print("");
  printTable(
    ["WORKER", "LAST HEARTBEAT", "STARTED", "STATE"],
    active.map((one) => [
      one.workerId,
      time(one.lastHeartbeatAt),
      time(one.startedAt),
      one.isStale ? "not responding" : "alive",
    ]),
  );
}
