// Decides the size of an operation's batches and the pauses between them, from how long earlier batches took.
//
// A batch should take about 50 ms: long compared with its round trip, and so short that no other transaction waits for
// long. Without a fixed rate, the pause after a batch that changed jobs is as long as the batch took, and at most 2 s.
// While the oldest ready job gets older, as it does when workers fall behind, the pause is up to 4 times as long.
import type { Speed } from "./model/operation-store.ts";

const FIRST_LIMIT = 500;
const MAX_LIMIT = 2_000;
// Larger than MAX_LIMIT, because a batch of 2,000 jobs spends a fifth of its time on planning and committing.
const MAX_WITHOUT_PAUSES = 4_000;
const STEADY_LIMIT = 200;
const MIN_LIMIT = 10;
const FIRST_SPAN = 50_000;
const STEADY_SPAN = 25_000;
const MIN_SPAN = 500;
const WANTED_MS = 50;
const MAX_MS = 2_000;
const MAX_GROWTH = 8;
const MAX_PAUSE_MS = 2_000;

export interface BatchStep {
  /** The maximum number of ids to walk. */
  readonly span: number;
  /** The maximum number of matches to process. */
  readonly limit: number;
}

/** Measurements of one batch. */
export interface BatchMeasurement {
  readonly ms: number;
  readonly found: number;
  readonly done: number;
  /** The number of ids that the batch walked. */
  readonly walked: number;
  /** How long the oldest ready job has been due, in ms; null: no such job, or unknown. */
  readonly oldestReadyMs: number | null;
}

export interface RemainingWork {
  /** The number of ids to walk. */
  readonly ids: number;
  /** The number of matching jobs to process; null if unknown. */
  readonly jobs: number | null;
}

export interface BatchPace {
  readonly step: BatchStep;
  readonly speed: Speed;
  /** Returns the pause after the batch, in milliseconds. */
  pauseAfter(took: BatchMeasurement, left: RemainingWork): number;
  /** Makes the next batches smaller, after a batch that exceeded its timeout. */
  tooLong(): void;
}

export interface PaceOptions {
  /** Jobs per second; 0: no pauses; null: no fixed rate. */
  readonly rate: number | null;
  /** Returns milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
}

export function createPace({ rate, monotonic }: PaceOptions): BatchPace {
  let span = FIRST_SPAN;
  const most =
    rate === 0 ? MAX_WITHOUT_PAUSES : Math.min(MAX_LIMIT, rate ?? Number.POSITIVE_INFINITY);
  let limit = Math.min(FIRST_LIMIT, most);
  let speed: Speed = { ratePerS: null, etaS: null };
  const began = monotonic();
  let done = 0;
  let matched = 0;
  let walkedInAll = 0;
  let firstOldestMs: number | null = null;
  let lastOldestMs: number | null = null;
  let pauseFactor = 1;

  const tune = ({ ms, found, walked }: BatchMeasurement) => {
    if (found >= limit) {
      // Rounded, so that a batch can have exactly `limit` matches.
      const next = Math.round(Math.min(nextSize(limit, ms, STEADY_LIMIT), limit * 2));
      limit = clamp(next, Math.min(MIN_LIMIT, most), most);
      // Twice the number of ids in which `limit` matches are expected.
      const enough = Math.max(walked * 2 * (limit / found), Math.min(span, STEADY_SPAN));
      span = clamp(enough, MIN_SPAN, Number.MAX_SAFE_INTEGER);
    } else {
      span = clamp(nextSize(span, ms, STEADY_SPAN), MIN_SPAN, Number.MAX_SAFE_INTEGER);
    }
  };

  const pauseFactorAfter = (oldestReadyMs: number | null, ms: number) => {
    firstOldestMs ??= oldestReadyMs ?? 0;
    // A ready job that no worker can run gets older all the time. If such a job was old after the first batch, the last
    // condition ignores the job until its age has doubled.
    const grows =
      oldestReadyMs !== null &&
      lastOldestMs !== null &&
      oldestReadyMs > lastOldestMs + ms / 2 &&
      oldestReadyMs > 1_000 + 2 * firstOldestMs;
    lastOldestMs = oldestReadyMs;
    return grows ? Math.min(pauseFactor * 2, 4) : Math.max(pauseFactor / 2, 1);
  };

  return {
    get step() {
      return { span: Math.round(span), limit };
    },
    get speed() {
      return speed;
    },
    pauseAfter(took, left) {
      tune(took);
      done += took.done;
      walkedInAll += took.walked;
      // At a fixed rate, the time includes the pause that follows this batch.
      const atRate = rate ? done / rate : 0;
      const seconds = Math.max((monotonic() - began) / 1_000, atRate, 0.001);
      const walksPerS = walkedInAll / seconds;
      matched += took.found;
      const perS = rate ? Math.min(rate, matched / seconds) : matched / seconds;
      const byJobs = left.jobs !== null && perS > 0 ? left.jobs / perS : null;
      const byIds = walksPerS > 0 ? left.ids / walksPerS : null;
      const etaS = byJobs ?? byIds;
      speed = { ratePerS: whole(done / seconds), etaS: etaS === null ? null : whole(etaS) };
      if (rate === 0) return 0;
      pauseFactor = pauseFactorAfter(took.oldestReadyMs, took.ms);
      // A batch that changed no job leaves no dead rows of jobs, so a short pause is enough.
      const share = took.done === 0 ? 0.25 : 1;
      const pauseMs = Math.min(took.ms * share * pauseFactor, MAX_PAUSE_MS);
      if (rate === null) return pauseMs;
      const dueMs = (done / rate) * 1_000 - (monotonic() - began);
      return Math.max(pauseMs, dueMs);
    },
    tooLong() {
      span = clamp(span / MAX_GROWTH, MIN_SPAN, span);
      limit = clamp(Math.round(limit / MAX_GROWTH), Math.min(MIN_LIMIT, limit), limit);
    },
  };
}

/**
 * Returns the size of a batch that would take 50 ms, if a batch of `size` took `ms`. If the database is far away or
 * busy, smaller batches only add round trips. So the size does not fall below `steady`, unless such a batch would take
 * more than 2 s.
 */
function nextSize(size: number, ms: number, steady: number): number {
  const within = (wantedMs: number) =>
    size * clamp(wantedMs / Math.max(ms, 1), 1 / MAX_GROWTH, MAX_GROWTH);
  return Math.max(within(WANTED_MS), Math.min(within(MAX_MS), steady));
}

const clamp = (value: number, least: number, most: number) =>
  Math.min(Math.max(value, least), most);
const whole = (value: number) => Math.min(Math.round(value), 2_000_000_000);
