// The event `operation` of the event stream. It contains the operation that is running or being undone, in this process
// or in another one. If there is none, the event contains the newest operation that was started with a query, or `null`
// if there is no such operation among the newest 200 of all operations. The feed reads the operation from the database
// at intervals. Changes of an operation that this process runs are sent without waiting for the next reading.
import { monotonic } from "../../base/clock.ts";
import {
  type JobOperation,
  type OperationState,
  operationJson,
} from "../../commands/operations/model/operation.ts";
import type { Feed, FeedSource } from "../feed/feed.ts";
import type { OperationRunner } from "./operation-runner.ts";

const INTERVAL_MS = 1_000;

export function operationSource(runner: OperationRunner): FeedSource {
  return {
    event: "operation",
    intervalMs: INTERVAL_MS,
    read: async () => {
      const operation = (await (await runner.store())?.currentOrLast()) ?? null;
      return operation === null ? "null" : operationJson(operation);
    },
  };
}

// The shortest time between two events that differ only in the progress of an operation. There may be twenty batches a
// second, and a user cannot read so many numbers.
const MIN_MS = 250;

/** Sends viewers the operations that this process runs: a change of state at once, progress at most every MIN_MS. */
export function publishOperations(runner: OperationRunner, feed: Feed): void {
  let sentAtMs = Number.NEGATIVE_INFINITY;
  let sentState: OperationState | null = null;
  runner.onChange((operation: JobOperation) => {
    if (!feed.isWatched("operation")) return;
    if (operation.state === sentState && monotonic() - sentAtMs < MIN_MS) return;
    sentState = operation.state;
    sentAtMs = monotonic();
    feed.publish("operation", operationJson(operation));
  });
}
