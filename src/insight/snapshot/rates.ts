// Estimates how many jobs were added and done in the last minute, from PostgreSQL's numbers of inserted and deleted
// rows. These numbers also contain rows of rolled-back transactions, and jobs that were removed instead of being run.
// For `done`, sampler.ts prefers the reports of workers.
import type { Gauge } from "../stats/gauge.ts";

/** The jobs added, jobs done and attempts failed in the last minute; null if unknown. Only workers report `failed`. */
export interface JobRates {
  readonly added: number | null;
  readonly done: number | null;
  readonly failed: number | null;
}

/**
 * The jobs added and done in the `ms` milliseconds before the last reading: since the newest reading that was a minute
 * or more earlier, or since the first one if there is none.
 */
export interface RateWindow {
  readonly ms: number;
  readonly added: number;
  readonly done: number;
}

export interface RateMeter {
  note(gauge: Gauge): void;
  readonly seen: RateWindow;
  /** The rates; null until the readings cover a minute, because a shorter time is not extrapolated. */
  readonly perMinute: Pick<JobRates, "added" | "done">;
}

const WINDOW_MS = 60_000;
export function createRateMeter(): RateMeter {
  let points: Pick<Gauge, "nowMs" | "inserted" | "deleted">[] = [];
  return {
    note({ nowMs, inserted, deleted }) {
      const last = points.at(-1);
      // If a number or the time is less than before, the counters were reset or the server was replaced. The earlier
      // readings are then dropped.
      const isReset =
        last !== undefined &&
        (inserted < last.inserted || deleted < last.deleted || nowMs < last.nowMs);
      if (isReset) points = [];
      else if (last?.nowMs === nowMs) points.pop();
      points.push({ nowMs, inserted, deleted });
      const beyond = points.findLastIndex((point) => nowMs - point.nowMs >= WINDOW_MS);
      if (beyond > 0) points.splice(0, beyond);
    },
    get seen() {
      const [first] = points;
      const last = points.at(-1);
      if (first === undefined || last === undefined) return { ms: 0, added: 0, done: 0 };
      return {
        ms: last.nowMs - first.nowMs,
        added: last.inserted - first.inserted,
        done: last.deleted - first.deleted,
      };
    },
    get perMinute() {
      const { ms, added, done } = this.seen;
      if (ms < WINDOW_MS) return { added: null, done: null };
      const rate = (count: number) => Math.round((count * WINDOW_MS) / ms);
      return { added: rate(added), done: rate(done) };
    },
  };
}
