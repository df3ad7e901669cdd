// Renews the locks of long jobs and of their named queues before the locks count as stale (after 4 hours by default).
// Graphile workers and the schema's functions check only the age of a lock, and not the lease of its worker. While a
// task blocks the worker's thread, the heartbeat thread renews the locks.
import { wait } from "../../base/clock.ts";
import { isOutage, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { runWithRetries } from "../../base/retry.ts";
import type { Database } from "../../database/database.ts";
import { renewLocks } from "../../queue/workers/renew-locks.ts";
import { STALE_LOCK_MS } from "../../queue/workers/reset-stale-locks.ts";

/** A session's id in `locked_by`, and the ids of its running jobs. */
export interface RunningJobs {
  readonly id: string;
  readonly runningIds: readonly string[];
}

export interface LockRenewalParts {
  readonly database: Database;
  /** The age at which a lock counts as stale for this worker. */
  readonly staleLockThresholdMs: number;
  readonly logger: Logger;
  running(): readonly RunningJobs[];
}

const RENEWALS = 4;

/** Returns the milliseconds between two renewals. For Graphile workers, a lock is stale after 4 hours. */
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
    const { signal } = this.#stop;
    const onError = (error: unknown) => this.#onFailure(error);
    while (await wait(this.#everyMs, signal))
      await runWithRetries(() => this.#renew(), { signal, onError });
  }

  async #renew(): Promise<void> {
    const { database, logger, running } = this.#parts;
    for (const { id, runningIds } of running()) {
      if (runningIds.length === 0) continue;
      const { jobs, queues } = await renewLocks(database, id, runningIds, this.#everyMs / 2);
      if (jobs > 0) logger.debug({ jobs, queues }, "the locks of long jobs were renewed");
    }
  }

  #onFailure(error: unknown): void {
    // Outages are logged by the parts that use the database all the time.
    const level = isOutage(error) ? "debug" : "warn";
    this.#parts.logger[level](
      { error: messageOf(error) },
      "the locks of long jobs could not be renewed yet",
    );
  }
}
