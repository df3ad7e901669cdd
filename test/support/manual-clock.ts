// A clock for tests. Its time changes only when the test calls advance().
import type { Clock } from "../../src/base/clock.ts";

export interface ManualClock extends Clock {
  /** Advances the time by `ms`, and runs the timers that become due, in the order of their times. */
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
