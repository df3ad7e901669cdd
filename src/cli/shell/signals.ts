// SIGTERM, SIGINT and SIGHUP ask a long-running command to stop; the second one does not ask.
import { constants } from "node:os";

/** Aborts at the first of the signals; at the second the process ends at once (128 + signal). */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(128 + constants.signals[name]);
      stop.abort(name);
    });
  }
  return stop.signal;
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
