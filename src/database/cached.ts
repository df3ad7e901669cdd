// Caches a value that is expensive to read and has many readers: one read at a time, shared by all
// concurrent callers, and not repeated before a pause in proportion to its duration. A fast value is read
// again while the caller waits; a slow one is answered from the last read and refreshed in the background.
// After a write of this process the pause is shorter, because its author checks the effect at once.
import { monotonic } from "../base/clock.ts";
import { nullOnTimeout } from "./null-on-timeout.ts";

export interface Cached<T> {
  (): Promise<T>;
  /** Returns a value whose read began after this call, so that it includes a preceding write. */
  fresh(): Promise<T>;
  /** The last value, however old; null before the first. */
  peek(): T | null;
}

export interface CachedOptions {
  /** The shortest time between two reads; for slow ones, `slowIntervalMs`. */
  readonly intervalMs?: number;
  readonly slowIntervalMs?: number;
  /** When this process last wrote. Values read before that are read again sooner. */
  readonly changedAtMs?: () => number;
  /** There is so little data that a slow read is the machine's fault: the pause is at most 5 s. */
  readonly isSmall?: () => boolean;
  /** For tests. */
  readonly clock?: () => number;
}

/** Reads take at most a twentieth of the time. */
const REST_FACTOR = 20;
/** After a write: a third. */
const HURRIED_FACTOR = 2;
/** The longest pause if there is little data. */
const SMALL_REST_MS = 5_000;
/** Slower reads are not waited for a second time. */
const QUICK_MS = 150;
/** Older values are not returned without waiting. */
const STALE_MS = 60_000;

export function cached<T>(run: () => Promise<T>, options: CachedOptions = {}): Cached<T> {
  const { intervalMs = 250, slowIntervalMs = 10_000 } = options;
  const { changedAtMs = never, isSmall = () => false, clock = monotonic } = options;
  let last: { readonly value: T; readonly atMs: number; readonly tookMs: number } | null = null;
  let nextAtMs = 0;
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  const start = () => {
    const began = clock();
    running = run()
      .then((value) => {
        const atMs = clock();
        last = { value, atMs, tookMs: atMs - began };
        nextAtMs = atMs + restMs(last.tookMs);
        return value;
      })
      .finally(() => {
        running = null;
      });
    return running;
  };

  const restMs = (tookMs: number) => {
    if (isSmall()) return Math.max(intervalMs, Math.min(tookMs * REST_FACTOR, SMALL_REST_MS));
    return Math.max(tookMs < QUICK_MS ? intervalMs : slowIntervalMs, tookMs * REST_FACTOR);
  };

  const isBehind = () => {
    if (last === null || changedAtMs() <= last.atMs - last.tookMs) return false;
    return clock() >= last.atMs + Math.max(intervalMs, last.tookMs * HURRIED_FACTOR);
  };

  const read = (): Promise<T> => {
    const isHurried = isBehind();
    if (last !== null && clock() < nextAtMs && !isHurried) return Promise.resolve(last.value);
    const reading = running ?? start();
    if (last === null) return reading;
    const { value, tookMs, atMs } = last;
    // An old value includes its age, and is better than none.
    const isOld = tookMs < QUICK_MS || isHurried || clock() - atMs > STALE_MS;
    if (isOld) return nullOnTimeout(reading).then((fresh) => fresh ?? value);
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

/** A cached value for each of the last few keys. */
export function cachedByKey<T>(
  most: number,
  options?: CachedOptions,
): (key: string, run: () => Promise<T>) => Cached<T> {
  const entries = new Map<string, Cached<T>>();
  return (key, run) => {
    const one = entries.get(key) ?? cached(run, options);
    entries.delete(key);
    entries.set(key, one);
    const [oldest] = entries.keys();
    if (entries.size > most && oldest !== undefined) entries.delete(oldest);
    return one;
  };
}
