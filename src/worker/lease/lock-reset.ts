// Every worker resets stale locks from time to time, as stock workers do, and gives queues whose row a
// cleanup deleted under a job a row again: at a random moment of the first minute, so that a fleet does
// not do it all at once, and then every 8 to 10.
import { wait } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { countDeletedQueues, recoverLostQueues } from "../../queue/tidy/lost-names.ts";
import { forgetStaleWorkers, resetStaleLocks } from "../../queue/workers/reset-stale-locks.ts";

export interface LockResetParts {
  readonly database: Database;
  readonly intervalMs: number;
  /** The age at which a lock that no heartbeat stands for is stale. */
  readonly staleLockThresholdMs: number;
  readonly logger: Logger;
  /**
   * Whether rows of workers that were not heard of for as long may go, too. Not while this worker
   * cannot tell: after an outage nobody was heard of.
   */
  mayForget(): boolean;
  /** Jobs have become ready. */
  wake(): void;
}

const RECOVERED =
  "queues were deleted while jobs were being added to them; they are named recovered-queue-<id> now";
const FIRST_WITHIN_MS = 60_000;
const OUTAGE: ReadonlySet<string> = new Set(["database_unreachable", "read_only_server"]);

export class LockReset {
  readonly #parts: LockResetParts;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  /** The queues that had been deleted at the last two looks, the newest first. */
  #deleted: readonly string[] = ["0", "0"];

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
    const { intervalMs } = this.#parts;
    let pauseMs = Math.random() * Math.min(FIRST_WITHIN_MS, intervalMs);
    while (await wait(pauseMs, this.#stop.signal)) {
      await this.#reset();
      pauseMs = intervalMs * (0.9 + Math.random() * 0.2);
    }
  }

  async #reset(): Promise<void> {
    const { database, logger, mayForget, staleLockThresholdMs, wake } = this.#parts;
    try {
      const { jobs, queues } = await resetStaleLocks(database, staleLockThresholdMs);
      if (mayForget()) await forgetStaleWorkers(database, staleLockThresholdMs);
      if (jobs + queues > 0) logger.warn({ jobs, queues }, "stale locks were reset");
      const recovered = await this.#recoverQueues();
      if (jobs + queues + recovered > 0) wake();
    } catch (error) {
      // Of an outage those tell who need the database all the time.
      const isTold = OUTAGE.has(codeOf(error) ?? "");
      const fields = { error: messageOf(error) };
      logger[isTold ? "debug" : "warn"](fields, "stale locks could not be reset");
    }
  }

  /**
   * All jobs are read for it (a second for millions), so only after a deletion, and once more at the next look:
   * an add that was open at the first may have committed its job since.
   */
  async #recoverQueues(): Promise<number> {
    const { database, logger } = this.#parts;
    const deleted = await countDeletedQueues(database);
    const isUnchanged = this.#deleted.every((before) => before === deleted);
    const recovered = isUnchanged ? 0 : await recoverLostQueues(database);
    this.#deleted = [deleted, ...this.#deleted.slice(0, 1)];
    if (recovered > 0) logger.warn({ queues: recovered }, RECOVERED);
    return recovered;
  }
}
