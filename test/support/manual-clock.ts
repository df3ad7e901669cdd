// A clock that a test advances. advance() runs the timers whose times it passes, in the order of these times.
import type { Clock } from "../../src/base/clock.ts";

export interface ManualClock extends Clock {
  /** Advances the time by `ms`. Before it returns, it runs the timers that have become due. */
  advance(ms: number): void;
  /** The milliseconds until the next timer; null if no timer is set. */
  readonly nextMs: number | null;
}

export function manualClock(): ManualClock {
  let nowMs = 0;
  let timers: { readonly atMs: number; readonly callback: () => void }[] = [];
  const next = () => timers.toSorted((a, b) => a.atMs - b.atMs)[0];
  return {
    monotonic: () => nowMs,
    after(ms, callback) {
      const timer = { atMs: nowMs + ms, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    advance(ms) {
      const untilMs = nowMs + ms;
      for (let timer = next(); timer !== undefined && timer.atMs <= untilMs; timer = next()) {
        const due = timer;
        timers = timers.filter((one) => one !== due);
        nowMs = due.atMs;
        due.callback();
      }
      nowMs = untilMs;
    },
    get nextMs() {
      const timer = next();
      return timer === undefined ? null : timer.atMs - nowMs;
    },
  };
}
