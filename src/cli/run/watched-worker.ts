// The worker that --watch restarts: reports the files that it has loaded, and stops with its parent.
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { ExitStatus } from "../arguments/command.ts";
import type { RunArguments } from "./run-options.ts";
import { runWorker } from "./run-worker.ts";
import { StopRequests } from "./stop-requests.ts";

/** Sent to the parent: a file that the tasks use. */
export interface LoadedFile {
  readonly loaded: string;
}

export async function watchedWorker(args: RunArguments): Promise<ExitStatus> {
  const stops = new StopRequests();
  process.once("disconnect", () => stops.request("SIGTERM"));
  registerHooks({
    load(url, context, nextLoad) {
      if (url.startsWith("file:") && !url.includes("/node_modules/")) send(fileURLToPath(url));
      return nextLoad(url, context);
    },
  });
  try {
    return await runWorker(args, stops);
  } finally {
    if (process.connected) process.disconnect();
  }
}

function send(path: string): void {
  if (process.connected) process.send?.({ loaded: path } satisfies LoadedFile);
}
