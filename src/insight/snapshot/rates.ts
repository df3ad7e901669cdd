// Jobs added and done in the last minute, from PostgreSQL's numbers of inserted and deleted rows. These include
// rollbacks and removed jobs, so the rates are estimates. For `done`, sampler.ts prefers the reports of workers.
import type { Gauge } from "../stats/gauge.ts";

/** Jobs, and failed attempts, of the last minute; null: unknown. Only reports of workers have `failed`. */
export interface JobRates {
  readonly added: number | null;
  readonly done: number | null;
  readonly failed: number | null;
}

/** The jobs added and done since the newest reading that is at least a minute old, or else since the first one. */
export interface RateWindow {
  readonly ms: number;
  readonly added: number;
  readonly done: number;
}

export interface RateMeter {
  note(gauge: Gauge): void;
  readonly seen: RateWindow;
  /** The rates; null in the first minute of readings, because a few seconds are not extrapolated. */
  readonly perMinute: Pick<JobRates, "added" | "done">;
}

const WINDOW_MS = 60_000;
export function createRateMeter(): RateMeter {
  let points: Pick<Gauge, "nowMs" | "inserted" | "deleted">[] = [];
  return {
    note({ nowMs, inserted, deleted }) {
      const last = points.at(-1);
      // The counters can be reset, and the server can be replaced by another. Then the readings begin again.
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
