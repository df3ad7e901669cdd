// Reads this machine's clocks, and waits. PostgreSQL's clock decides whether a job is due. This module captures the
// global clocks and timers when it loads, because test tools may replace them later.
import nodeTimers from "node:timers";
import promises from "node:timers/promises";

/** The longest delay of a timer, 24.8 days. Node turns a longer delay into 1 ms. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

const bounded = (ms: number) => Math.min(Math.max(ms, 0), MAX_TIMER_MS);

export const { setImmediate, clearTimeout, clearInterval } = nodeTimers;

const { setTimeout: startTimer, setInterval: startInterval } = nodeTimers;

export const setTimeout = (callback: () => void, ms: number): NodeJS.Timeout =>
  startTimer(callback, bounded(ms));

export const setInterval = (callback: () => void, ms: number): NodeJS.Timeout =>
  startInterval(callback, bounded(ms));

const { timeout } = AbortSignal;

/** Returns a signal that aborts after `ms`, with a TimeoutError. */
export const timeoutSignal = (ms: number): AbortSignal => timeout.call(AbortSignal, bounded(ms));

const { setTimeout: timerPromise, setImmediate: immediatePromise } = promises;

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  timerPromise(bounded(ms), undefined, { signal });

/** Resolves in the next turn of the event loop. */
export const nextTurn = (): Promise<void> => immediatePromise();

const { now: epochMs } = Date;
const uptimeMs = performance.now.bind(performance);
const sharedNs = process.hrtime.bigint;

/** A clock that paces a loop. Tests pass a clock that they advance by hand. */
export interface Clock {
  /** Returns milliseconds by a clock that never jumps. */
  monotonic(): number;
  /** Calls `callback` once, after `ms`. Returns a function that cancels the call. */
  after(ms: number, callback: () => void): () => void;
}

/** The system's clock. Its timers keep the process alive: a worker that only waits for a timer must not exit. */
export const systemClock: Clock = Object.freeze({
  monotonic,
  after(ms: number, callback: () => void) {
    const timeout = setTimeout(callback, ms);
    return () => clearTimeout(timeout);
  },
});

/** Like `systemClock`, but its timers do not keep the process alive. */
export const backgroundClock: Clock = Object.freeze({
  monotonic,
  after(ms: number, callback: () => void) {
    const timeout = setTimeout(callback, ms).unref();
    return () => clearTimeout(timeout);
  },
});

/** Returns milliseconds since the epoch by this machine's clock. */
export function now(): number {
  return epochMs();
}

/** Returns milliseconds by a clock that never jumps. */
export function monotonic(): number {
  return uptimeMs();
}

/** Returns microseconds by a clock that never jumps and that all threads of this process share. */
export function sharedMonotonicUs(): bigint {
  return sharedNs() / 1_000n;
}

/** A moment by two clocks, sharedMonotonicUs() and now(). */
export type Moment = readonly [monotonicUs: bigint, epochMs: bigint];

export function momentNow(): Moment {
  return [sharedMonotonicUs(), BigInt(now())];
}

/**
 * Returns the milliseconds since a moment: the longer of the durations by the two clocks. On Linux the monotonic clock
 * does not count the time for which the machine was suspended.
 */
export function msSince([monotonicUs, epochMs]: Moment): number {
  const elapsedUs = Number(sharedMonotonicUs() - monotonicUs);
  return Math.max(elapsedUs / 1_000, now() - Number(epochMs));
}

/** Measures a duration as msSince() does, but without allocations: a worker reads `ms` before each job. */
export class Stopwatch {
  readonly #startMs = monotonic();
  readonly #startedAt = now();

  /** The milliseconds since the stopwatch was created. */
  get ms(): number {
    return Math.max(monotonic() - this.#startMs, now() - this.#startedAt);
  }
}

/** Resolves to true when `work` has settled, to false if that takes longer than `ms`. Never rejects. */
export async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = new AbortController();
  const abort = () => settled.abort();
  void work.then(abort, abort);
  return !(await wait(ms, settled.signal));
}

/** Waits `ms` milliseconds, or until `signal` aborts. Resolves to true if the time has passed. Never rejects. */
export async function wait(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  try {
    let leftMs = ms;
    for (; leftMs > MAX_TIMER_MS; leftMs -= MAX_TIMER_MS) {
      await sleep(MAX_TIMER_MS, signal);
    }
    await sleep(leftMs, signal);
    return true;
  } catch {
    return false;
  }
}

/** Settles as `work` does, or resolves to null as soon as `signal` aborts. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const aborted = Promise.withResolvers<null>();
  const give = () => aborted.resolve(null);
  signal.addEventListener("abort", give, { once: true });
  if (signal.aborted) give();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", give);
  }
}
