// A reading that many ask for and that costs something: one at a time, shared by all who ask meanwhile,
// and not again before it has rested in proportion to what it took. What was quick is read anew while
// one waits; what was slow is answered from the last reading, and refreshed behind it.
import { monotonic } from "../../base/clock.ts";
import { unlessLate } from "../../database/unless-late.ts";

export interface Resting<T> {
  (): Promise<T>;
  /** The last reading, however old; null before the first. */
  peek(): T | null;
}

export interface RestingOptions {
  /** The shortest time between two readings; where they are slow, `slowIntervalMs`. */
  readonly intervalMs?: number;
  readonly slowIntervalMs?: number;
}

/** At most a twentieth of the time goes into it. */
const REST_FACTOR = 20;
/** What takes longer is not waited for a second time. */
const QUICK_MS = 150;
/** What is older is waited for all the same. */
const STALE_MS = 60_000;

export function resting<T>(
  run: () => Promise<T>,
  { intervalMs = 250, slowIntervalMs = 10_000 }: RestingOptions = {},
): Resting<T> {
  let last: { readonly value: T; readonly atMs: number; readonly tookMs: number } | null = null;
  let nextAtMs = 0;
  let running: Promise<T> | null = null;

  const start = () => {
    const began = monotonic();
    running = run()
      .then((value) => {
        const atMs = monotonic();
        last = { value, atMs, tookMs: atMs - began };
        const shortestMs = last.tookMs < QUICK_MS ? intervalMs : slowIntervalMs;
        nextAtMs = atMs + Math.max(shortestMs, last.tookMs * REST_FACTOR);
        return value;
      })
      .finally(() => {
        running = null;
      });
    return running;
  };

  const read = (): Promise<T> => {
    if (last !== null && monotonic() < nextAtMs) return Promise.resolve(last.value);
    const next = running ?? start();
    if (last === null) return next;
    const { value, tookMs, atMs } = last;
    // An old one says how old it is, and is better than none.
    const isOld = tookMs < QUICK_MS || monotonic() - atMs > STALE_MS;
    if (isOld) return unlessLate(next).then((fresh) => fresh ?? value);
    // Whoever waits for it hears what went wrong; nobody does here.
    next.catch(() => {});
    return Promise.resolve(value);
  };
  return Object.assign(read, { peek: () => last?.value ?? null });
}

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
