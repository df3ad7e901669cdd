// The process of the worker that `--watch` restarts. It reports to its parent process which files it loads, and when
// the worker is ready. The worker stops when the parent ends.
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { ExitStatus } from "../arguments/command.ts";
import type { ServiceManager } from "../service/service-manager.ts";
import type { RunArguments } from "./run-options.ts";
import { runWorker } from "./run-worker.ts";
import { StopRequests } from "./stop-requests.ts";

/**
 * A report to the parent. `loaded`: the path of a loaded file outside of `node_modules`. `ready`: the worker's status
 * for the service manager, such as `3 tasks`, sent when the worker is ready.
 */
export type WatchedReport = { readonly loaded: string } | { readonly ready: string };

/** Replaces the service manager: sends the status to the parent, which forwards the first status to the manager. */
const parent: ServiceManager = {
  ready: async (status) => send({ ready: status }),
  [Symbol.asyncDispose]: async () => {},
};

export async function watchedWorker(args: RunArguments): Promise<ExitStatus> {
  const stops = new StopRequests();
  process.once("disconnect", () => stops.request("SIGTERM"));
  registerHooks({
    load(url, context, nextLoad) {
      if (url.startsWith("file:") && !url.includes("/node_modules/")) {
        send({ loaded: fileURLToPath(url) });
      }
      return nextLoad(url, context);
    },
  });
  try {
    return await runWorker(args, stops, () => parent);
  } finally {
    if (process.connected) process.disconnect();
  }
}

function send(report: WatchedReport): void {
  if (process.connected) process.send?.(report);
}
