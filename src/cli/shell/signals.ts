// SIGTERM, SIGINT and SIGHUP ask a long-running command to stop; the second one does not ask.

import { constants } from "node:os";
import { clearInterval, setInterval } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";

const NAMES = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** A signal has ended the command before it was done; its exit status is what a shell expects of that. */
export class StoppedError extends WorkerError {
  readonly status: number;

  /** `signal`: as stopSignal() gave it. */
  constructor(signal: AbortSignal, message: string) {
    super("aborted", message);
    this.status = statusOf(signal.reason);
  }
}

const statusOf = (name: NodeJS.Signals) => 128 + constants.signals[name];

/**
 * Aborts at the first of the signals; at the second the process ends at once (128 + signal). `onHangup`:
 * what SIGHUP means instead, where it means something else.
 */
export function stopSignal(onHangup?: () => void): AbortSignal {
  const { signal, onSignal } = listen();
  if (onHangup !== undefined) process.off("SIGHUP", onSignal).on("SIGHUP", onHangup);
  return signal;
}

/** Does work that the first of the signals asks to stop; after it they mean again what they meant. */
export async function stoppable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, end } = listen();
  try {
    return await work(signal);
  } finally {
    end();
  }
}

function listen() {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(statusOf(name));
    stop.abort(name);
  };
  for (const name of NAMES) process.on(name, onSignal);
  const end = () => {
    for (const name of NAMES) process.off(name, onSignal);
  };
  return { signal: stop.signal, onSignal, end };
}

/** Resolves when `signal` has aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  // The timer keeps the process alive while it waits for nothing but a signal.
  const alive = setInterval(() => {}, 2 ** 30);
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  clearInterval(alive);
}
