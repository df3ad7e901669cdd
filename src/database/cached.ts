// A value that is read for many and costs something: one reading at a time, shared by all that ask meanwhile,
// and not again before it has rested in proportion to what it took. A quick value is read anew while the
// caller waits; a slow one is answered from the last reading and refreshed behind it. After a write of
// ours it rests less, because its author looks at once whether it had the effect.
import { monotonic } from "../base/clock.ts";
import { nullOnTimeout } from "./null-on-timeout.ts";

export interface Cached<T> {
  (): Promise<T>;
  /** A value whose reading began after this call: after a write it shows the write. */
  fresh(): Promise<T>;
  /** The last value, however old; null before the first. */
  peek(): T | null;
}

export interface CachedOptions {
  /** The shortest time between two readings; where they are slow, `slowIntervalMs`. */
  readonly intervalMs?: number;
  readonly slowIntervalMs?: number;
  /** When this process last wrote: what was read before that is read anew sooner. */
  readonly changedAtMs?: () => number;
  /** There is so little to read that a slow reading was the machine's doing: it rests for 5 s at most. */
  readonly isSmall?: () => boolean;
  /** For tests. */
  readonly clock?: () => number;
}

/** At most a twentieth of the time goes into it. */
const REST_FACTOR = 20;
/** After a write: a third. */
const HURRIED_FACTOR = 2;
/** The longest rest where little is read. */
const SMALL_REST_MS = 5_000;
/** What takes longer is not waited for a second time. */
const QUICK_MS = 150;
/** What is older is waited for all the same. */
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
    // An old one says how old it is, and is better than none.
    const isOld = tookMs < QUICK_MS || isHurried || clock() - atMs > STALE_MS;
    if (isOld) return nullOnTimeout(reading).then((fresh) => fresh ?? value);
    // An error reaches those that wait for the reading, and here is none.
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

/** One reading for each of the last few things that were asked about. */
export function cachedByKey<T>(
  most: number,
  options?: CachedOptions,
): (key: string, run: () => Promise<T>) => Cached<T> {
  const kept = new Map<string, Cached<T>>();
  return (key, run) => {
    const one = kept.get(key) ?? cached(run, options);
    kept.delete(key);
    kept.set(key, one);
    const [oldest] = kept.keys();
    if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    return one;
  };
}
