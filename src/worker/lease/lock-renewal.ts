// Renews the locks of jobs that run for hours, and those of their named queues, each time a quarter of the stale
// age has passed, because stock workers and the schema's functions check only a lock's age. While a handler blocks
// the worker's thread, the heartbeat renews them (heartbeat-loop.ts).
import { wait } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { renewLocks } from "../../queue/workers/renew-locks.ts";
import { STALE_LOCK_MS } from "../../queue/workers/reset-stale-locks.ts";

/** The running jobs under one id of this worker. */
export interface RunningJobs {
  readonly id: string;
  readonly runningIds: readonly string[];
}

export interface LockRenewalParts {
  readonly database: Database;
  /** The age at which a lock counts as stale for this worker. For stock workers it is 4 hours. */
  readonly staleLockThresholdMs: number;
  readonly logger: Logger;
  running(): readonly RunningJobs[];
}

/** The number of renewals within the stale age; three may fail. */
const RENEWALS = 4;

/** Returns the interval of renewals for a stale age. */
export const renewalIntervalMs = (staleLockThresholdMs: number): number =>
  Math.min(staleLockThresholdMs, STALE_LOCK_MS) / RENEWALS;

export class LockRenewal {
  readonly #parts: LockRenewalParts;
  readonly #everyMs: number;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;

  constructor(parts: LockRenewalParts) {
    this.#parts = parts;
    this.#everyMs = renewalIntervalMs(parts.staleLockThresholdMs);
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (await wait(this.#everyMs, this.#stop.signal)) await this.#renew();
  }

  async #renew(): Promise<void> {
    const { database, logger, running } = this.#parts;
    try {
      for (const { id, runningIds } of running()) {
        if (runningIds.length === 0) continue;
        const { jobs, queues } = await renewLocks(database, id, runningIds, this.#everyMs / 2);
        if (jobs > 0) logger.debug({ jobs, queues }, "the locks of long jobs were renewed");
      }
    } catch (error) {
      logger.warn({ error: messageOf(error) }, "the locks of long jobs could not be renewed");
    }
  }
}
