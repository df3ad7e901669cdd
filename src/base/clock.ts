// The one place that asks the system for the time or waits for it. Database time decides about
// jobs; this clock only paces our own loops and stamps our own answers.
import { setTimeout as timer } from "node:timers/promises";

/** Node's timers count to 2^31 - 1 ms, 24.8 days, and take longer ones for 1 ms. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** What paces a loop; a test gives one that it moves by hand. */
export interface Clock {
  /** Milliseconds by a clock that never jumps. */
  monotonic(): number;
  /** Calls back once, after `ms`, unless what it returns is called before. */
  after(ms: number, callback: () => void): () => void;
}

/** The system's. Its timers keep the process alive: a worker that only waits for one still lives. */
export const systemClock: Clock = Object.freeze({
  monotonic,
  after(ms: number, callback: () => void) {
    const timeout = setTimeout(callback, ms);
    return () => clearTimeout(timeout);
  },
});

/** The same for what nobody waits for: the process may end before its timers. */
export const backgroundClock: Clock = Object.freeze({
  monotonic,
  after(ms: number, callback: () => void) {
    const timeout = setTimeout(callback, ms).unref();
    return () => clearTimeout(timeout);
  },
});

/** Milliseconds since the epoch by this machine's clock. */
export function now(): number {
  return Date.now();
}

/** Milliseconds by a clock that never jumps: for durations and deadlines. */
export function monotonic(): number {
  return performance.now();
}

/** Microseconds by a clock that never jumps and that all threads of this process share. */
export function sharedMonotonicUs(): bigint {
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
