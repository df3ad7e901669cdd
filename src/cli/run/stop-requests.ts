// Who asks a worker to stop, how urgently, and that the process then ends: user code may have left
// timers and connections that would keep it for ever.

import { constants } from "node:os";
import { setTimeout } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export interface StoppableWorker {
  stop(reason: string): Promise<void>;
  abort(reason: string): Promise<void>;
}

/**
 * The first signal stops what is given, the second aborts it, the third ends the process. One that
 * comes before there is anything to stop is kept. Disposing of it gives the signals back.
 */
export class StopRequests implements Disposable {
  readonly #onSignal = (name: NodeJS.Signals) => {
    if (name === "SIGHUP" && this.#onHangup !== null) this.#onHangup();
    else this.ask(name);
  };
  readonly #asked = new AbortController();
  #onHangup: (() => void) | null = null;
  #what: StoppableWorker | null = null;
  #times = 0;

  constructor() {
    for (const name of SIGNALS) process.on(name, this.#onSignal);
  }

  /** Aborts at the first request; its reason is who asked. */
  get signal(): AbortSignal {
    return this.#asked.signal;
  }

  /** From now on SIGHUP means this, and no stop. */
  onHangup(what: () => void): void {
    this.#onHangup = what;
  }

  /** As a signal of that name does. */
  ask(name: string): void {
    this.#times++;
    this.#asked.abort(name);
    if (this.#times === 1) void this.#what?.stop(name);
    else if (this.#times === 2) void this.#what?.abort(name);
    else process.exit(128 + (constants.signals[name as NodeJS.Signals] ?? 0));
  }

  /** From now on this is stopped. */
  for(what: StoppableWorker): void {
    this.#what = what;
    if (this.#times > 0) void what.stop(String(this.#asked.signal.reason));
    if (this.#times > 1) void what.abort(String(this.#asked.signal.reason));
  }

  [Symbol.dispose](): void {
    for (const name of SIGNALS) process.off(name, this.#onSignal);
  }
}

/**
 * An error that nobody caught ends the worker as a signal would, and not in the middle of all other jobs.
 * Gives whether there was one.
 */
export function stopOnUncaught(stops: StopRequests, logger: Logger): () => boolean {
  let hasFailed = false;
  const onError = (error: unknown) => {
    const stack = error instanceof Error ? error.stack : undefined;
    logger.error({ error: messageOf(error), stack }, "nobody caught an error: the worker stops");
    if (!hasFailed) stops.ask("uncaught error");
    hasFailed = true;
  };
  process.on("uncaughtException", onError);
  process.on("unhandledRejection", onError);
  return () => hasFailed;
}

const LINGER_MS = 1_000;

/** Ends the process with the status that it has by then, should it not end by itself. */
export function endSoon(logger: Logger): void {
  setTimeout(() => {
    const kept = process.getActiveResourcesInfo().join(", ");
    logger.warn({ kept }, "the tasks have left something open: the process is ended");
    process.exit();
  }, LINGER_MS).unref();
}
