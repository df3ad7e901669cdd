// The worker that --watch restarts. It reports the files that it loads, and that it is ready. It stops with its parent.
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { ExitStatus } from "../arguments/command.ts";
import type { ServiceManager } from "../service/service-manager.ts";
import type { RunArguments } from "./run-options.ts";
import { runWorker } from "./run-worker.ts";
import { StopRequests } from "./stop-requests.ts";

/** Sent to the parent: the path of a loaded module, not of a package; or the worker's status, once it is ready. */
export type WatchedReport = { readonly loaded: string } | { readonly ready: string };

/** Passes reports on to the parent, which reports to the service manager. */
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
