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
  /**
   * Whether rows of workers that were silent for as long may go, too. Not while this worker cannot
   * tell: after an outage everybody was silent.
   */
  mayForget(): boolean;
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

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { interval_ms } = this.#parts;
    let pause_ms = Math.random() * Math.min(FIRST_WITHIN_MS, interval_ms);
    while (await wait(pause_ms, this.#stop.signal)) {
      await this.#reset();
      pause_ms = interval_ms * (0.9 + Math.random() * 0.2);
    }
  }

  async #reset(): Promise<void> {
    const { database, logger, mayForget, pulse } = this.#parts;
    try {
      const { jobs, queues } = await resetStaleLocks(database);
      if (mayForget()) await forgetSilentWorkers(database);
      if (jobs + queues === 0) return;
      logger.warn({ jobs, queues }, "locks older than 4 hours were reset");
      pulse();
    } catch (error) {
      logger.warn({ error: messageOf(error) }, "old locks could not be reset");
    }
  }
}
