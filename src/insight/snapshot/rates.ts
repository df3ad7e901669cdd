// Estimates how many jobs are added and done in a minute, from PostgreSQL's numbers of inserted and deleted rows. These
// numbers include rows of rolled-back transactions, and jobs that were deleted without being run.
import type { Gauge } from "../stats/gauge.ts";

/** Jobs added, jobs done and failed attempts per minute, recently; null: unknown. */
export interface JobRates {
  readonly added: number | null;
  readonly done: number | null;
  readonly failed: number | null;
}

/**
 * The numbers of jobs added and done in the last `ms` milliseconds before the last reading. The window begins at the
 * newest reading that is at least a minute older than the last reading, or else at the oldest reading.
 */
export interface RateWindow {
  readonly ms: number;
  readonly added: number;
  readonly done: number;
}

export interface RateMeter {
  note(gauge: Gauge): void;
  readonly seen: RateWindow;
  /** The jobs per minute in the window `seen`; null while the window is shorter than a minute. */
  readonly perMinute: Pick<JobRates, "added" | "done">;
}

const WINDOW_MS = 60_000;
export function createRateMeter(): RateMeter {
  let points: Pick<Gauge, "nowMs" | "inserted" | "deleted">[] = [];
  return {
    note({ nowMs, inserted, deleted }) {
      const last = points.at(-1);
      // After a reset of the counters or a change of the server, earlier readings cannot be compared with this one.
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
