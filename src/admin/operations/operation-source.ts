// The event `operation` of the stream contains the operation that any process runs or undoes. If there is none, the
// event contains the newest operation that was started with a query. A change of state is sent at once if this process
// runs the operation. Operations of other processes are read about once a second.
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

// The shortest time between two events of progress. There may be twenty batches a second, more than a user can read.
const MIN_MS = 250;

/** Sends this process's operations to viewers: every change of state, and progress at most every MIN_MS. */
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
