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
  /** Whether the process is ending because of a third signal. For handlers of the process's event `exit`. */
  hasExited = false;

  constructor() {
    for (const name of SIGNALS) process.on(name, this.#onSignal);
  }

  /**
   * Aborts at the first request. The reason is the name of the received signal, or the reason that stop() was given.
   */
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

  /** Stops the worker. The call does not count as a signal: a first signal after the call aborts no jobs. */
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
 * Stops the worker at an uncaught exception or an unhandled rejection, so that other jobs can finish. The returned
 * function reports whether such an error has occurred.
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

/**
 * Ends the process after LINGER_MS, with the current exit status, because timers and connections that user code has
 * left open would keep the process alive. Without such timers and connections, the process ends earlier by itself.
 */
export function endSoon(logger: Logger): void {
  setTimeout(() => {
    const resources = process.getActiveResourcesInfo().join(", ");
    logger.warn({ kept: resources }, "the tasks have left handles open; ending the process");
    process.exit();
  }, LINGER_MS).unref();
}
