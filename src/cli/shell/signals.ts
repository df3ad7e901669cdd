// SIGTERM, SIGINT and SIGHUP stop a long-running command, and a second signal ends the process.
import { constants } from "node:os";
import { clearInterval, setInterval } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";

const NAMES = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** The error of a command that a signal ended early. The exit status is 128 plus the signal's number, as in shells. */
export class StoppedError extends WorkerError {
  readonly status: number;

  /** `signal`: the aborted signal of stopSignal() or stoppable(). */
  constructor(signal: AbortSignal, message: string) {
    super("aborted", message);
    this.status = statusOf(signal.reason);
  }
}

const statusOf = (name: NodeJS.Signals) => 128 + constants.signals[name];

/**
 * Returns an AbortSignal that aborts at the first SIGTERM, SIGINT or SIGHUP. The second of these signals ends the
 * process at once, with an exit status of 128 plus the signal's number. With `onHangup`, SIGHUP only calls `onHangup`.
 */
export function stopSignal(onHangup?: () => void): AbortSignal {
  const { signal, onSignal } = listen();
  if (onHangup !== undefined) process.off("SIGHUP", onSignal).on("SIGHUP", onHangup);
  return signal;
}

/**
 * Calls `work` with an AbortSignal like that of stopSignal() without `onHangup`. When `work` has ended, removes the
 * handlers of the process's signals.
 */
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
export async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  // Without this timer, Node would end a process that waits for nothing but a signal.
  const alive = setInterval(() => {}, 2 ** 30);
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  clearInterval(alive);
}
