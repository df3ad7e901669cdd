// Caches a value that is expensive to read and has many readers. Concurrent callers share one read. After each
// successful read there is a pause, which is longer after a slow read. During the pause, callers get the last value.
// The first call after the pause begins a new read. After a slow read, callers usually get the last value while the new
// read runs.
import { monotonic } from "../base/clock.ts";
import { codeOf } from "../base/errors.ts";
import { nullOnTimeout } from "./null-on-timeout.ts";

export interface Cached<T> {
  (): Promise<T>;
  /** Returns a value whose read began after this call, so that the value includes writes before the call. */
  fresh(): Promise<T>;
  /** Returns the last value, however old; null before the first read. */
  peek(): T | null;
}

export interface CachedOptions {
  /** The shortest pause after a read, in milliseconds. Default: 250. */
  readonly intervalMs?: number;
  /** The shortest pause after a slow read, in milliseconds. Default: 10,000. */
  readonly slowIntervalMs?: number;
  /** Returns the time of this process's last write, by `clock`. A write can shorten the pause. */
  readonly changedAtMs?: () => number;
  /**
   * Returns whether there is so little data that only a busy machine makes a read slow. If so, a pause takes at most
   * five seconds, or `intervalMs` if that is longer.
   */
  readonly isSmall?: () => boolean;
  /** The clock, in milliseconds. */
  readonly clock?: () => number;
}

/** The pause is usually at least this many times as long as the read, so that reads take a twentieth of the time. */
const PAUSE_FACTOR = 20;
/** The factor if this process has written since the read began. */
const PAUSE_FACTOR_AFTER_WRITE = 2;
const MAX_SMALL_PAUSE_MS = 5_000;
/** A read that takes at least this long is slow. */
const QUICK_MS = 150;
const STALE_MS = 60_000;

export function createCache<T>(run: () => Promise<T>, options: CachedOptions = {}): Cached<T> {
  const { intervalMs = 250, slowIntervalMs = 10_000 } = options;
  const { changedAtMs = never, isSmall = () => false, clock = monotonic } = options;
  let last: { readonly value: T; readonly atMs: number; readonly tookMs: number } | null = null;
  let nextAtMs = 0;
  let timedOut: { readonly error: unknown; readonly untilMs: number } | null = null;
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  const start = () => {
    const began = clock();
    running = run()
      .then((value) => {
        const atMs = clock();
        last = { value, atMs, tookMs: atMs - began };
        nextAtMs = atMs + pauseMs(last.tookMs);
        timedOut = null;
        return value;
      })
      .catch((error) => {
        const atMs = clock();
        const tookMs = atMs - began;
        const untilMs = atMs + Math.min(tookMs, slowIntervalMs);
        timedOut = codeOf(error) === "database_timeout" ? { error, untilMs } : null;
        throw error;
      })
      .finally(() => {
        running = null;
      });
    return running;
  };

  const pauseMs = (tookMs: number) => {
    if (isSmall()) return Math.max(intervalMs, Math.min(tookMs * PAUSE_FACTOR, MAX_SMALL_PAUSE_MS));
    return Math.max(tookMs < QUICK_MS ? intervalMs : slowIntervalMs, tookMs * PAUSE_FACTOR);
  };

  /** For a time after a timeout, only fresh() starts a read, because PostgreSQL is probably under load. */
  const recentTimeout = (): Promise<never> | null =>
    timedOut !== null && clock() < timedOut.untilMs ? Promise.reject(timedOut.error) : null;

  const isBehind = () => {
    if (last === null || changedAtMs() <= last.atMs - last.tookMs) return false;
    return clock() >= last.atMs + Math.max(intervalMs, last.tookMs * PAUSE_FACTOR_AFTER_WRITE);
  };

  const read = (): Promise<T> => {
    const isAfterWrite = isBehind();
    if (last !== null && clock() < nextAtMs && !isAfterWrite) return Promise.resolve(last.value);
    const reading = running ?? recentTimeout() ?? start();
    if (last === null) return reading;
    const { value, tookMs, atMs } = last;
    // After a timeout, the old value is better than none.
    const mustWait = tookMs < QUICK_MS || isAfterWrite || clock() - atMs > STALE_MS;
    if (mustWait) return nullOnTimeout(reading).then((fresh) => fresh ?? value);
    // Errors reach only the callers that wait for the read.
    reading.catch(() => {});
    return Promise.resolve(value);
  };

  const fresh = (): Promise<T> => {
    if (running === null) return start();
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null;
        return running ?? start();
      });
    return next;
  };
  return Object.assign(read, { fresh, peek: () => last?.value ?? null });
}

const never = () => Number.NEGATIVE_INFINITY;

/** Returns a function that caches a value for each of the `most` keys that were used last. */
export function cachedByKey<T>(
  most: number,
  options?: CachedOptions,
): (key: string, run: () => Promise<T>) => Cached<T> {
  const entries = new Map<string, Cached<T>>();
  return (key, run) => {
    const cache = entries.get(key) ?? createCache(run, options);
    entries.delete(key);
    entries.set(key, cache);
    const [oldest] = entries.keys();
    if (entries.size > most && oldest !== undefined) entries.delete(oldest);
    return cache;
  };
}
