// Every worker resets locks older than 4 hours from time to time, as stock workers do: at a random
// moment of the first minute, so that a fleet does not do it all at once, and then every 8 to 10.
import { wait } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Database } from "../database/database.ts";
import { forgetSilentWorkers, resetStaleLocks } from "../queue/reset-stale-locks.ts";

export interface LockResetParts {
  readonly database: Database;
  readonly interval_ms: number;
  readonly logger: Logger;
  /** Jobs have become ready. */
  pulse(): void;
}

const FIRST_WITHIN_MS = 60_000;

export class LockReset {
  readonly #parts: LockResetParts;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;

  constructor(parts: LockResetParts) {
    this.#parts = parts;
  }

  /** `hasWorkerTable`: rows of workers that were silent for as long go, too. */
  start(hasWorkerTable: boolean): void {
    this.#running = this.#run(hasWorkerTable);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(hasWorkerTable: boolean): Promise<void> {
    const { interval_ms } = this.#parts;
    let pause_ms = Math.random() * Math.min(FIRST_WITHIN_MS, interval_ms);
    while (await wait(pause_ms, this.#stop.signal)) {
      await this.#reset(hasWorkerTable);
      pause_ms = interval_ms * (0.9 + Math.random() * 0.2);
    }
  }

  async #reset(hasWorkerTable: boolean): Promise<void> {
    const { database, logger, pulse } = this.#parts;
    try {
      const { jobs, queues } = await resetStaleLocks(database);
      if (hasWorkerTable) await forgetSilentWorkers(database);
      if (jobs + queues === 0) return;
      logger.warn({ jobs, queues }, "locks older than 4 hours were reset");
      pulse();
    } catch (error) {
      logger.warn({ error: messageOf(error) }, "old locks could not be reset");
    }
  }
}
