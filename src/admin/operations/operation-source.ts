// The event `operation` of the stream: the one that is at work, whoever works on it, else the last one.
// What this process works on is told at once; of others' work the tables tell, once a second at most.
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
      const shown = (await (await runner.store())?.atHand()) ?? null;
      return shown === null ? "null" : operationJson(shown);
    },
  };
}

// Batches may be twenty a second; nobody reads as fast.
const SHORTEST_MS = 250;

/** Tells the viewers of this process's own work: every change of state, and progress now and then. */
export function publishOperations(runner: OperationRunner, feed: Feed): void {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  let said: OperationState | null = null;
  runner.onChange((operation: JobOperation) => {
    if (!feed.isWatched("operation")) return;
    if (operation.state === said && monotonic() - saidAtMs < SHORTEST_MS) return;
    said = operation.state;
    saidAtMs = monotonic();
    feed.publish("operation", operationJson(operation));
  });
}
