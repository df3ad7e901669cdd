// A reading that many ask for and that costs something: one at a time, shared by all who ask meanwhile,
// and not again before it has rested in proportion to what it took. What was quick is read anew while
// one waits; what was slow is answered from the last reading, and refreshed behind it. After a write of
// ours it rests less: who has mended something looks whether it is mended.
import { monotonic } from "../base/clock.ts";
import { nullOnTimeout } from "../database/null-on-timeout.ts";

export interface Resting<T> {
  (): Promise<T>;
  /** The last reading, however old; null before the first. */
  peek(): T | null;
}

export interface RestingOptions {
  /** The shortest time between two readings; where they are slow, `slowIntervalMs`. */
  readonly intervalMs?: number;
  readonly slowIntervalMs?: number;
  /** When somebody last wrote through us: what was read before that is read anew sooner. */
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

export function resting<T>(run: () => Promise<T>, options: RestingOptions = {}): Resting<T> {
  const { intervalMs = 250, slowIntervalMs = 10_000 } = options;
  const { changedAtMs = never, isSmall = () => false, clock = monotonic } = options;
  let last: { readonly value: T; readonly atMs: number; readonly tookMs: number } | null = null;
  let nextAtMs = 0;
  let running: Promise<T> | null = null;

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
    const next = running ?? start();
    if (last === null) return next;
    const { value, tookMs, atMs } = last;
    // An old one says how old it is, and is better than none.
    const isOld = tookMs < QUICK_MS || isHurried || clock() - atMs > STALE_MS;
    if (isOld) return nullOnTimeout(next).then((fresh) => fresh ?? value);
    // Whoever waits for it hears what went wrong; nobody does here.
    next.catch(() => {});
    return Promise.resolve(value);
  };
  return Object.assign(read, { peek: () => last?.value ?? null });
}

const never = () => Number.NEGATIVE_INFINITY;

/** One reading for each of the last few things that were asked about. */
export function restingByKey<T>(
  most: number,
  options?: RestingOptions,
): (key: string, run: () => Promise<T>) => Resting<T> {
  const kept = new Map<string, Resting<T>>();
  return (key, run) => {
    const one = kept.get(key) ?? resting(run, options);
    kept.delete(key);
    kept.set(key, one);
    const [oldest] = kept.keys();
    if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    return one;
  };
}
