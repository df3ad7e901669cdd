// Decides whether there is anything to fetch, where the next fetch starts, how many jobs it asks for and
// how long it may take. A state machine that learns from announcements and from the fetches before: it
// sends nothing, and its time is that of a clock.
//
//               wake(), raise(): something may be ready
//   drained ────────────────────────────────────────────▶ ready ──request()──▶ under way
//      ▲                                                    ▲                  │    │
//      └──── learn(): short, and everything was seen ───────┼──────────────────┘    │
//                                                           └── learn(): full, failed()
//
//   start     beginning ──full──▶ behind the last job ──short, wake(), 50 ms to 1 s──▶ beginning
//   most      no limit ──short after a second, stopped──▶ 1 ──full──▶ 2, 4, 8 … ──short──▶ no limit
//   patience  seconds ──stopped──▶ a minute ──an answer within 4 s──▶ seconds
//   quick     the first fetch for jobs just announced to a drained worker; skipped 1, 2, 4 … 64 times
//             after quick fetches that found nothing
import type { Clock } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import type { JobKind } from "../../queue/fetch/fetch-form.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";

/** Jobs before it are taken, or soon will be. */
export interface FetchStart {
  readonly priority: number;
  readonly runAtSeconds: number | "-Infinity";
}

/** Reads everything. */
export const BEGINNING: FetchStart = { priority: -32_768, runAtSeconds: "-Infinity" };

/** What one fetch asks for. */
export interface FetchRequest {
  readonly want: number;
  /** Only a few of the most urgent ones, by a statement of its own (queue/fetch/quick-fetch.ts). */
  readonly isQuick: boolean;
  /** It may take a minute: one that had seconds was stopped. */
  readonly isPatient: boolean;
  /** Also read named queues. */
  readonly queues: boolean;
  /** Which of the jobs without a queue. */
  readonly free: JobKind;
  readonly start: FetchStart;
  readonly sentAtMs: number;
  /** How often something had become ready by then. */
  readonly readyCount: number;
}

// A start is trusted for this long. A more urgent job that nothing announces, such as one that falls due,
// waits for that long at most. Under a held xmin the dead index entries of finished jobs stay, and a fetch
// from the beginning walks over all of them: it is made for a twentieth of the time.
const TRUST_MS = 50;
const TRUST_AT_MOST_MS = 1_000;
const WALKS = 20;

/** The beginning of PostgreSQL's time, in 4714 BC. */
const EARLIEST_S = -210_866_803_200;

/** A fetch that takes longer has walked over far more than it took. */
const LONG_WALK_MS = 1_000;
/** One that is patient and needs less would not have needed its patience. */
const PATIENT_WALK_MS = 4_000;

/** Fetched jobs should last for some round trips. */
export const HORIZON_MS = 25;

const QUICK_JOBS = 32;
const QUICK_SKIPS_AT_MOST = 64;

/** For the log, at the first of them. */
export const LONG_FETCH =
  "a fetch of jobs took too long and is repeated with more time: are millions of ready jobs of other tasks before those of this worker?";

export class FetchPlan {
  readonly #clock: Clock;
  readonly #free: JobKind;
  // Everything that may have made a job ready raises a counter. A fetch that comes back short proves that
  // nothing was ready at the count at which it was sent.
  #readyCount = 1;
  #drainedCount = 0;
  /** Some named queue may be free: fetches read queued jobs, too. */
  #queuesAreFree: boolean;
  #start: FetchStart = BEGINNING;
  #trustedUntilMs = 0;
  #resetAtMs = 0;
  #most = Number.POSITIVE_INFINITY;
  #isPatient = false;
  #jobsPerMs = 0;
  #finished = 0;
  #measuredAtMs: number;
  /** Jobs were announced to a drained worker, and nothing has been fetched since. */
  #isFirstNews = false;
  #quickSkips = 0;
  #quickSkipsLeft = 0;

  /** `free`: which of the jobs without a queue it is for. Only the safe mode takes queued ones. */
  constructor(clock: Clock, free: JobKind) {
    this.#clock = clock;
    this.#free = free;
    this.#queuesAreFree = free !== "fast";
    this.#measuredAtMs = clock.monotonic();
  }

  /** A fetch would find nothing. */
  get isDrained(): boolean {
    return this.#drainedCount >= this.#readyCount;
  }

  /** Something may have become ready, behind the start. */
  raise(): void {
    this.#readyCount++;
  }

  /** The same, anywhere; `isNews`: just now. True when nothing was ready before. */
  wake(isNews: boolean): boolean {
    const wasDrained = this.isDrained;
    this.raise();
    this.reset();
    this.#isFirstNews = wasDrained && isNews;
    return wasDrained;
  }

  /** The next fetch reads everything. */
  reset(): void {
    this.#start = BEGINNING;
    this.#resetAtMs = this.#clock.monotonic();
  }

  /** Jobs that the recent speed uses up within the horizon: slots never run dry, slow jobs stay for others. */
  get ahead(): number {
    return Math.floor(this.#jobsPerMs * HORIZON_MS);
  }

  /** Jobs have ended. */
  finished(count: number): void {
    this.#finished += count;
  }

  /** Updates the speed; called once a fetch. */
  measure(): void {
    const nowMs = this.#clock.monotonic();
    const elapsedMs = nowMs - this.#measuredAtMs;
    if (elapsedMs < 1) return;
    const recent = this.#finished / elapsedMs;
    // A longer pause counts in full, a burst is believed half: grows in a few fetches, never jumps.
    this.#jobsPerMs = elapsedMs > 1_000 ? recent : (this.#jobsPerMs + recent) / 2;
    this.#finished = 0;
    this.#measuredAtMs = nowMs;
  }

  /** The next request may take long. */
  get isPatient(): boolean {
    return this.#isPatient;
  }

  /** The request for up to `wanted` jobs. `mayBeQuick`: nothing else than a quick fetch prevents one. */
  request(wanted: number, mayBeQuick: boolean): FetchRequest {
    // A quick one sees no named queues, and no jobs of another mode.
    const seesAll = !this.#queuesAreFree && this.#free !== "safe";
    const isQuick = this.#isFirstNews && seesAll && mayBeQuick && this.#takesQuick();
    this.#isFirstNews = false;
    const want = Math.min(wanted, this.#most);
    if (this.#clock.monotonic() > this.#trustedUntilMs) this.#start = BEGINNING;
    return {
      want: isQuick ? Math.min(want, QUICK_JOBS) : want,
      isQuick,
      isPatient: this.#isPatient,
      queues: this.#queuesAreFree,
      free: this.#free,
      start: this.#start,
      sentAtMs: this.#clock.monotonic(),
      readyCount: this.#readyCount,
    };
  }

  /** What a request has found; `queuesAreFree`: some named queue is. True when nothing is ready any more. */
  learn(jobs: readonly FetchedJob[], request: FetchRequest, queuesAreFree: boolean): boolean {
    if (request.isQuick) {
      this.#learnQuick(jobs.length);
      return false; // What is less urgent is not known: a fetch of everything follows.
    }
    const { queues, start, sentAtMs, readyCount } = request;
    const isFull = jobs.length >= request.want;
    this.#learnLength(isFull, this.#clock.monotonic() - sentAtMs);
    // Behind a start only what is behind it was seen.
    const sawAll = start === BEGINNING && (queues || !queuesAreFree);
    this.#queuesAreFree = queuesAreFree;
    const last = jobs.at(-1);
    if (!isFull) this.reset();
    else if (last !== undefined && !last.isQueued && !queuesAreFree) this.#move(last, sentAtMs);
    if (leavesLocked(request, jobs)) this.raise();
    if (isFull || !sawAll) return false;
    this.#drainedCount = Math.max(this.#drainedCount, readyCount);
    return this.isDrained;
  }

  /** True when PostgreSQL has stopped a request for its length: the next one may take longer. */
  failed(error: unknown): boolean {
    if (!(error instanceof WorkerError) || error.code !== "database_timeout") return false;
    this.#most = 1;
    this.#isPatient = true;
    return true;
  }

  /** A fetch failed, perhaps because its jobs were too large together: begins again with few. */
  forgetSpeed(): void {
    this.#jobsPerMs = 0;
    this.#finished = 0;
    this.#measuredAtMs = this.#clock.monotonic();
  }

  /** Jobs at the front shall not wait for the end of a long walk. */
  #learnLength(isFull: boolean, tookMs: number): void {
    if (isFull) this.#most *= 2;
    else this.#most = tookMs < LONG_WALK_MS ? Number.POSITIVE_INFINITY : 1;
    if (tookMs < PATIENT_WALK_MS) this.#isPatient = false;
  }

  #takesQuick(): boolean {
    if (this.#quickSkipsLeft === 0) return true;
    this.#quickSkipsLeft--;
    return false;
  }

  #learnQuick(found: number): void {
    this.#quickSkips = found > 0 ? 0 : Math.min(QUICK_SKIPS_AT_MOST, this.#quickSkips * 2 || 1);
    this.#quickSkipsLeft = this.#quickSkips;
  }

  #move(last: FetchedJob, sentAtMs: number): void {
    if (this.#start === BEGINNING) {
      const nowMs = this.#clock.monotonic();
      // It may not have seen what has become ready since it was sent.
      const walkMs = sentAtMs > this.#resetAtMs ? nowMs - sentAtMs : 0;
      const trustMs = Math.max(TRUST_MS, WALKS * walkMs);
      this.#trustedUntilMs = nowMs + Math.min(trustMs, TRUST_AT_MOST_MS);
    }
    // A double holds microseconds only just: stay on the safe side of the last digit.
    const runAtSeconds = last.runAtSeconds - 0.00001;
    this.#start = {
      priority: last.priority,
      runAtSeconds: runAtSeconds < EARLIEST_S ? BEGINNING.runAtSeconds : runAtSeconds,
    };
  }
}

/**
 * True when a fetch beside this one may have come back short for what this one had locked and left:
 * nothing else would look for that again. Where it took queued jobs only, their end is a reason to.
 */
function leavesLocked({ queues, want }: FetchRequest, jobs: readonly FetchedJob[]): boolean {
  return queues && jobs.length === want && jobs.some(({ isQueued }) => !isQueued);
}
