// The worker that --watch begins anew: it says which files it has loaded, and stops with its parent.
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { ExitStatus } from "../arguments/command.ts";
import type { RunArguments } from "./run-options.ts";
import { runWorker } from "./run-worker.ts";
import { StopRequests } from "./stop-requests.ts";

/** To the parent: a file that belongs to the tasks. */
export interface Loaded {
  readonly loaded: string;
}

export async function watchedWorker(args: RunArguments): Promise<ExitStatus> {
  const stops = new StopRequests();
  process.once("disconnect", () => stops.ask("SIGTERM"));
  registerHooks({
    load(url, context, nextLoad) {
      if (url.startsWith("file:") && !url.includes("/node_modules/")) tell(fileURLToPath(url));
      return nextLoad(url, context);
    },
  });
  try {
    return await runWorker(args, stops);
  } finally {
    if (process.connected) process.disconnect();
  }
}

function tell(path: string): void {
  if (process.connected) process.send?.({ loaded: path } satisfies Loaded);
}
