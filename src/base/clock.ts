// The one place that asks the system for the time or waits for it. Database time decides about
// jobs; this clock only paces our own loops and stamps our own answers.
// Timers and clocks are those of the moment when this module is loaded: test tools replace the global ones under
// an application that waits for its database. No delay is longer than Node can count.
import nodeTimers from "node:timers";
import promises from "node:timers/promises";

/** Node's timers count to 2^31 - 1 ms, 24.8 days, and take a longer delay for 1 ms. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

const bounded = (ms: number) => Math.min(ms, LONGEST_TIMER_MS);

export const { setImmediate, clearTimeout, clearInterval } = nodeTimers;

const { setTimeout: later, setInterval: repeatedly } = nodeTimers;

export const setTimeout = (callback: () => void, ms: number): NodeJS.Timeout =>
  later(callback, bounded(ms));

export const setInterval = (callback: () => void, ms: number): NodeJS.Timeout =>
  repeatedly(callback, bounded(ms));

const { timeout } = AbortSignal;

/** Aborts after `ms`, with an error of the name TimeoutError. */
export const timeoutSignal = (ms: number): AbortSignal => timeout.call(AbortSignal, bounded(ms));

const { setTimeout: pause, setImmediate: turn } = promises;

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  pause(bounded(ms), undefined, { signal });

/** Resolves once the event loop has had its turn. */
export const nextTurn = (): Promise<void> => turn();

const { now: epochMs } = Date;
const uptimeMs = performance.now.bind(performance);
const sharedNs = process.hrtime.bigint;

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
  return epochMs();
}

/** Milliseconds by a clock that never jumps: for durations and deadlines. */
export function monotonic(): number {
  return uptimeMs();
}

/** Microseconds by a clock that never jumps and that all threads of this process share. */
export function sharedMonotonicUs(): bigint {
  return sharedNs() / 1_000n;
}

/** Waits `ms` milliseconds, or until `signal` aborts; never throws. True when the time passed. */
export async function wait(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  try {
    let leftMs = ms;
    for (; leftMs > LONGEST_TIMER_MS; leftMs -= LONGEST_TIMER_MS) {
      await sleep(LONGEST_TIMER_MS, signal);
    }
    await sleep(leftMs, signal);
    return true;
  } catch {
    return false;
  }
}
