// Requests to stop `worker run`: signals and uncaught errors. Also ends the process after the worker has stopped.

import { constants } from "node:os";
import { setTimeout } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export interface StoppableWorker {
  stop(reason: string): Promise<void>;
  abort(reason: string): Promise<void>;
}

/** The first signal stops the worker, the second aborts running jobs, the third ends the process. */
export class StopRequests implements Disposable {
  readonly #onSignal = (name: NodeJS.Signals) => {
    if (name === "SIGHUP" && this.#onHangup !== null) this.#onHangup();
    else this.request(name);
  };
  readonly #requested = new AbortController();
  #onHangup: (() => void) | null = null;
  #worker: StoppableWorker | null = null;
  #times = 0;
  /** Whether the process is ending because of a third signal. */
  hasExited = false;

  constructor() {
    for (const name of SIGNALS) process.on(name, this.#onSignal);
  }

  /** Aborts at the first request. The reason is the name of the signal, or the reason given to stop(). */
  get signal(): AbortSignal {
    return this.#requested.signal;
  }

  /** From now on SIGHUP calls `reload` instead of stopping the worker. */
  onHangup(reload: () => void): void {
    this.#onHangup = reload;
  }

  /** Handles the signal `name`, or a request that counts as this signal. */
  request(name: string): void {
    this.#times++;
    if (this.#times === 1) this.stop(name);
    else if (this.#times === 2) void this.#worker?.abort(name);
    else {
      this.hasExited = true;
      process.exit(128 + (constants.signals[name as NodeJS.Signals] ?? 0));
    }
  }

  /** Stops the worker. The call does not count as a signal. */
  stop(reason: string): void {
    this.#requested.abort(reason);
    void this.#worker?.stop(reason);
  }

  /** Sets the worker that requests apply to. Earlier requests are applied to this worker at once. */
  for(worker: StoppableWorker): void {
    this.#worker = worker;
    if (this.signal.aborted) void worker.stop(String(this.#requested.signal.reason));
    if (this.#times > 1) void worker.abort(String(this.#requested.signal.reason));
  }

  [Symbol.dispose](): void {
    for (const name of SIGNALS) process.off(name, this.#onSignal);
  }
}

/**
 * Stops the worker at an uncaught error, so that other jobs can finish. The returned function reports whether there was
 * an uncaught error.
 */
export function stopOnUncaught(stops: StopRequests, logger: Logger): () => boolean {
  let hasFailed = false;
  const onError = (error: unknown) => {
    const stack = error instanceof Error ? error.stack : undefined;
    logger.error({ error: messageOf(error), stack }, "uncaught exception: the worker stops");
    if (!hasFailed) stops.stop("uncaught error");
    hasFailed = true;
  };
  process.on("uncaughtException", onError);
  process.on("unhandledRejection", onError);
  return () => hasFailed;
}

const LINGER_MS = 1_000;

/** If timers or connections of tasks keep the process alive, ends it after LINGER_MS. */
export function endSoon(logger: Logger): void {
  setTimeout(() => {
    const resources = process.getActiveResourcesInfo().join(", ");
    logger.warn({ kept: resources }, "the tasks have left handles open; ending the process");
    process.exit();
  }, LINGER_MS).unref();
}
