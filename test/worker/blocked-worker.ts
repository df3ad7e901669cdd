// A worker that is busy with one job, and a wait for heartbeats. For the tests of the heartbeat.
import type { Logger } from "../../src/base/logger.ts";
import type { WorkerOptions } from "../../src/worker/options/worker-options.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { Worker } from "../../src/worker/worker.ts";
import type { TestQueue } from "../queue/queue-database.ts";
import { QUICK, waitUntil } from "./worker-process.ts";

/** Returns a worker whose task `held` ends at release(), and the messages that the worker logs. */
export function blockedWorker(options: Partial<WorkerOptions>) {
  const released = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const lines: string[] = [];
  const note = (fields: object, message: string) =>
    void lines.push("reason" in fields ? `${message}: ${fields.reason}` : message);
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  const blocked = defineTask("held", () => {
    started.resolve();
    return released.promise;
  });
  const quick = defineTask("quick", () => {});
  const worker = new Worker({ tasks: [blocked, quick], recovery: QUICK, logger, ...options });
  return { worker, lines, started: started.promise, release: released.resolve };
}

/** The message that a worker logs if its heartbeat has its own thread. */
export const IN_THREAD = "the heartbeat runs in its own thread";

/** Waits for three successful heartbeats. */
export async function beats(sql: TestQueue["sql"]): Promise<void> {
  const text = "select max(last_heartbeat_at)::text as last from worker._private_workers";
  for (let n = 0; n < 3; n++) {
    const [before] = await sql<{ last: string | null }>(text);
    await waitUntil(
      "the worker sends a heartbeat",
      async () => (await sql<{ last: string }>(text))[0]?.last !== before?.last,
    );
  }
}
