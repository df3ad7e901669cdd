// The one place that asks the system for the time or waits for it. Database time decides about
// jobs; this clock only paces our own loops and stamps our own answers.
import { setTimeout as timer } from "node:timers/promises";

/** Milliseconds since the epoch by this machine's clock. */
export function now(): number {
  return Date.now();
}

/** Milliseconds by a clock that never jumps: for durations and deadlines. */
export function monotonic(): number {
  return performance.now();
}

/** Microseconds by a clock that never jumps and that all threads of this process share. */
export function sharedMonotonic_us(): bigint {
  return process.hrtime.bigint() / 1_000n;
}

/** Waits `ms` milliseconds, or until `signal` aborts; never throws. True when the time passed. */
export async function wait(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  try {
    await timer(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
