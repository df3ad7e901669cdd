// Resets the stale locks of workers without a heartbeat row. Also deletes old rows of workers and throttles, and
// restores deleted queues that have jobs. The first reset is at a random moment, so that workers that start together do
// not all reset locks at once.
import { wait } from "../../base/clock.ts";
import { isOutage, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { countDeletedQueues, recoverLostQueues } from "../../queue/tidy/lost-names.ts";
import { deleteOldThrottles } from "../../queue/tidy/old-throttles.ts";
import { deleteStaleWorkers, resetStaleLocks } from "../../queue/workers/reset-stale-locks.ts";

export interface LockResetParts {
  readonly database: Database;
  readonly intervalMs: number;
  /** The age at which a lock of a worker without a heartbeat row is stale. */
  readonly staleLockThresholdMs: number;
  readonly logger: Logger;
  /** Whether this worker sends heartbeats. */
  hasHeartbeats(): boolean;
  /** Called when jobs may have become ready. */
  wake(): void;
}

const QUEUES_RECOVERED =
  "queues were deleted while jobs were being added to them; they are named recovered-queue-<id> now";
const FIRST_WITHIN_MS = 60_000;
const LAST_RESET_MS = 500;

export class LockReset {
  readonly #parts: LockResetParts;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  /** The numbers of deleted queues at the last two checks, newest first. */
  #deleted: readonly string[] = ["0", "0"];
  /** Whether the last reset of locks succeeded. */
  #wasReset = false;

  constructor(parts: LockResetParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Waits at most half a second for a running reset. */
  async stop(): Promise<void> {
    this.#stop.abort();
    const over = new AbortController();
    await Promise.race([this.#running, wait(LAST_RESET_MS, over.signal)]);
    over.abort();
  }

  async #run(): Promise<void> {
    const { intervalMs } = this.#parts;
    let pauseMs = Math.random() * Math.min(FIRST_WITHIN_MS, intervalMs);
    while (await wait(pauseMs, this.#stop.signal)) {
      await this.#reset();
      pauseMs = intervalMs * (0.9 + Math.random() * 0.2);
    }
  }

  async #reset(): Promise<void> {
    const { database, hasHeartbeats, staleLockThresholdMs, wake } = this.#parts;
    // The locks of a worker that has a heartbeat row are not reset, so the rows of stale workers are deleted first.
    // After an outage, all heartbeats look old. If this worker sends heartbeats, deleteStaleWorkers() checks that there
    // was no outage. Otherwise, the success of the last reset shows that there was none (isCertain).
    const isCertain = !hasHeartbeats() && this.#wasReset;
    await this.#try("rows of stale workers could not be deleted", async () => {
      if (hasHeartbeats() || isCertain)
        await deleteStaleWorkers(database, staleLockThresholdMs, isCertain);
    });
    const counts = await this.#try("stale locks could not be reset", () => this.#resetLocks());
    this.#wasReset = counts !== undefined;
    const text = "deleted queues could not be restored";
    const recovered = await this.#try(text, () => this.#recoverQueues());
    if ((counts ?? 0) + (recovered ?? 0) > 0) wake();
    await this.#try("old throttles could not be deleted", () => deleteOldThrottles(database));
  }

  /** An error is only logged, so that the next steps still run. */
  async #try<T>(failure: string, step: () => Promise<T>): Promise<T | undefined> {
    if (this.#stop.signal.aborted) return undefined;
    try {
      return await step();
    } catch (error) {
      // Outages are logged by the parts that use the database all the time.
      this.#parts.logger[isOutage(error) ? "debug" : "warn"]({ error: messageOf(error) }, failure);
      return undefined;
    }
  }

  async #resetLocks(): Promise<number> {
    const { database, logger, staleLockThresholdMs } = this.#parts;
    const { jobs, queues, refused } = await resetStaleLocks(database, staleLockThresholdMs);
    if (jobs + queues > 0) logger.warn({ jobs, queues }, "stale locks were reset");
    const [first] = refused;
    if (first !== undefined) {
      const { id, error } = first;
      const fields = { jobs: refused.length, job_id: id, error: messageOf(error) };
      logger.error(fields, "jobs stay locked: PostgreSQL refuses to change them");
    }
    return jobs + queues;
  }

  /**
   * The search reads all jobs, so it runs only at the two checks after queues were deleted. The second search finds
   * jobs of transactions that were still open at the first search.
   */
  async #recoverQueues(): Promise<number> {
    const { database, logger } = this.#parts;
    const deleted = await countDeletedQueues(database);
    const isUnchanged = this.#deleted.every((before) => before === deleted);
    const recovered = isUnchanged ? 0 : await recoverLostQueues(database);
    this.#deleted = [deleted, ...this.#deleted.slice(0, 1)];
    if (recovered > 0) logger.warn({ queues: recovered }, QUEUES_RECOVERED);
    return recovered;
  }
}
