// Decides the size of batches and the pauses between them, from how long earlier ones took. Pure. A batch should take
// about 50 ms: worth its round trip, and short enough to block no other transaction for long, even if one takes several
// times as long. Two things make a batch long: many jobs to change (`limit`), or few matches among many ids (`span`).
// After a batch others get as much time as it took, and more while the age of the oldest ready job grows: then workers
// fall behind because of the operation. On a busy machine, or far from the database, every batch takes longer, and
// smaller ones only add round trips. So a batch of at least 200 jobs and 25,000 ids may take up to 2 s.
import type { Speed } from "./model/operation-store.ts";

const FIRST_LIMIT = 500;
const MOST_LIMIT = 2_000;
// Without pauses the total time matters; planning and committing take a fifth of a batch of 2,000.
const MOST_WITHOUT_PAUSES = 4_000;
const STEADY_LIMIT = 200;
const LEAST_LIMIT = 10;
const FIRST_SPAN = 50_000;
const STEADY_SPAN = 25_000;
const LEAST_SPAN = 500;
const WANTED_MS = 50;
const LONGEST_MS = 2_000;
const MOST_GROWTH = 8;
const LONGEST_REST_MS = 2_000;

export interface BatchStep {
  /** The most ids to walk, and matches to process. */
  readonly span: number;
  readonly limit: number;
}

/** Measurements of one batch. */
export interface Took {
  readonly ms: number;
  readonly found: number;
  readonly done: number;
  /** Ids walked. */
  readonly walked: number;
  /** Age of the oldest ready job after the batch, in milliseconds; null without one. */
  readonly oldestReadyMs: number | null;
}

export interface Left {
  /** Ids to walk. */
  readonly ids: number;
  /** Jobs to meet; null or 0 if unknown. */
  readonly jobs: number | null;
}

export interface BatchPace {
  readonly step: BatchStep;
  readonly speed: Speed;
  /** The pause after the batch, in milliseconds. */
  after(took: Took, left: Left): number;
  /** Call when a batch exceeded its timeout. */
  tooLong(): void;
}

export interface PaceOptions {
  readonly rate: number | null;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
}

export function createPace({ rate, monotonic }: PaceOptions): BatchPace {
  let span = FIRST_SPAN;
  const most =
    rate === 0 ? MOST_WITHOUT_PAUSES : Math.min(MOST_LIMIT, rate ?? Number.POSITIVE_INFINITY);
  let limit = Math.min(FIRST_LIMIT, most);
  let speed: Speed = { ratePerS: null, etaS: null };
  const began = monotonic();
  let done = 0;
  let met = 0;
  let walkedInAll = 0;
  let firstOldestMs: number | null = null;
  let lastOldestMs: number | null = null;
  let patience = 1;

  const tune = ({ ms, found, walked }: Took) => {
    if (found >= limit) {
      // An integer, since the number of matches is compared with it.
      const next = Math.round(Math.min(resized(limit, ms, STEADY_LIMIT), limit * 2));
      limit = clamp(next, Math.min(LEAST_LIMIT, most), most);
      // As many ids as that took, and some more: the limit cuts denser stretches.
      const enough = Math.max(walked * 2 * (limit / found), Math.min(span, STEADY_SPAN));
      span = clamp(enough, LEAST_SPAN, Number.MAX_SAFE_INTEGER);
    } else {
      span = clamp(resized(span, ms, STEADY_SPAN), LEAST_SPAN, Number.MAX_SAFE_INTEGER);
    }
  };

  const patienceAfter = (oldestReadyMs: number | null, ms: number) => {
    firstOldestMs ??= oldestReadyMs ?? 0;
    // A job that stays at the head because no worker supports its task is not a sign of load.
    const grows =
      oldestReadyMs !== null &&
      lastOldestMs !== null &&
      oldestReadyMs > lastOldestMs + ms / 2 &&
      oldestReadyMs > 1_000 + 2 * firstOldestMs;
    lastOldestMs = oldestReadyMs;
    return grows ? Math.min(patience * 2, 4) : Math.max(patience / 2, 1);
  };

  return {
    get step() {
      return { span: Math.round(span), limit };
    },
    get speed() {
      return speed;
    },
    after(took, left) {
      tune(took);
      done += took.done;
      walkedInAll += took.walked;
      // At a fixed rate, the pause belongs to the batch before it.
      const atRate = rate ? done / rate : 0;
      const seconds = Math.max((monotonic() - began) / 1_000, atRate, 0.001);
      const walksPerS = walkedInAll / seconds;
      met += took.found;
      const perS = rate ? Math.min(rate, met / seconds) : met / seconds;
      const byJobs = left.jobs && perS > 0 ? left.jobs / perS : null;
      const byIds = walksPerS > 0 ? left.ids / walksPerS : null;
      const etaS = byJobs ?? byIds;
      speed = { ratePerS: whole(done / seconds), etaS: etaS === null ? null : whole(etaS) };
      if (rate === 0) return 0;
      patience = patienceAfter(took.oldestReadyMs, took.ms);
      // A batch without changes holds no locks and leaves no dead rows.
      const share = took.done === 0 ? 0.25 : 1;
      const rest = Math.min(took.ms * share * patience, LONGEST_REST_MS);
      if (rate === null) return rest;
      const dueMs = (done / rate) * 1_000 - (monotonic() - began);
      return Math.max(rest, dueMs);
    },
    tooLong() {
      span = clamp(span / MOST_GROWTH, LEAST_SPAN, span);
      limit = clamp(Math.round(limit / MOST_GROWTH), Math.min(LEAST_LIMIT, limit), limit);
    },
  };
}

/** The size for the target time; only a very slow batch goes below `steady`. */
function resized(size: number, ms: number, steady: number): number {
  const within = (wantedMs: number) =>
    size * clamp(wantedMs / Math.max(ms, 1), 1 / MOST_GROWTH, MOST_GROWTH);
  return Math.max(within(WANTED_MS), Math.min(within(LONGEST_MS), steady));
}

const clamp = (value: number, least: number, most: number) =>
  Math.min(Math.max(value, least), most);
const whole = (value: number) => Math.min(Math.round(value), 2_000_000_000);
