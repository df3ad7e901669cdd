// The main function of a process started by startOwnProcess().
import { once } from "node:events";
import { UsageError } from "../arguments/refusals.ts";
import { reportFailure } from "../shell/failure.ts";
import type { ProcessOrder } from "./own/own-process.ts";
import type { RunArguments } from "./run-options.ts";

/** Receives the parent's order and carries it out. Resolves with the exit status when that is done. */
export async function serveParent(): Promise<number> {
  const [order] = (await once(process, "message")) as [ProcessOrder];
  switch (order.be) {
    case "program-starter":
      return (await import("./programs/program-starter.ts")).startPrograms();
    case "worker": {
      const args = order.args as RunArguments;
      const { watchedWorker } = await import("./watched-worker.ts");
      try {
        return await watchedWorker(args);
      } catch (error) {
        reportFailure(error, args);
        return error instanceof UsageError ? 2 : 1;
      }
    }
    default:
      return order satisfies never;
  }
}
