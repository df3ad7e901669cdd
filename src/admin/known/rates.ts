// How many jobs were added and done in the last minute, from the database's own statistics. What was
// rolled back is in them too, and a job that was removed counts as done: rates are estimates. Where all
// living workers report what they do, that is shown instead.
import type { Gauge } from "../../queue/stats/gauge.ts";

/** Jobs a minute; null: not known (yet). */
export interface Rates {
  readonly added: number | null;
  readonly done: number | null;
  readonly failed: number | null;
}

export interface RateMeter {
  note(gauge: Gauge): void;
  readonly perMinute: Pick<Rates, "added" | "done">;
}

const WINDOW_MS = 60_000;
/** The statistics are up to a second late: over less time they say little. */
const SHORTEST_MS = 4_000;

export function createRateMeter(): RateMeter {
  let points: Pick<Gauge, "nowMs" | "inserted" | "deleted">[] = [];
  return {
    note({ nowMs, inserted, deleted }) {
      const last = points.at(-1);
      // Statistics can be reset, and another server may answer.
      const isReset =
        last !== undefined &&
        (inserted < last.inserted || deleted < last.deleted || nowMs < last.nowMs);
      if (isReset) points = [];
      else if (last?.nowMs === nowMs) points.pop();
      points.push({ nowMs, inserted, deleted });
      const beyond = points.findLastIndex((point) => nowMs - point.nowMs >= WINDOW_MS);
      if (beyond > 0) points.splice(0, beyond);
    },
    get perMinute() {
      const [first] = points;
      const last = points.at(-1);
      if (first === undefined || last === undefined) return { added: null, done: null };
      const ms = last.nowMs - first.nowMs;
      if (ms < SHORTEST_MS) return { added: null, done: null };
      const rate = (count: number) => Math.round((count * 60_000) / ms);
      return {
        added: rate(last.inserted - first.inserted),
        done: rate(last.deleted - first.deleted),
      };
    },
  };
}
