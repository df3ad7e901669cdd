// The fetch plan decides whether to fetch, where the next fetch starts, how many jobs the fetch requests, and how long
// the fetch may take. A full fetch returned as many jobs as requested. A short fetch returned fewer.
//
//               wake(), raise(): something may be ready
//   drained ────────────────────────────────────────────▶ ready ──request()──▶ under way
//      ▲                                                    ▲                  │    │
//      └──── learn(): short, all was read, no event since ──┼──────────────────┘    │
//                                                           └── learn() otherwise, learnFailure()
// Four properties of the next fetch, and what changes them:
//   start       beginning ──full, no free queue──▶ the last job returned ──short, wake(), 50 ms to 1 s──▶ beginning
//   most jobs   no limit ──short after a second, timeout, refused──▶ 1 ──full──▶ 2, 4, 8 … ──short──▶ no limit
//   time limit  seconds ──timeout──▶ a minute ──an answer within 4 s──▶ seconds
//   quick?      only the first fetch after jobs were announced to a drained worker. After 1, 2, 3 … quick fetches in
//               a row that found nothing, the next 1, 2, 4 … 64 quick fetches are left out.
import type { Clock } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import type { JobKind } from "../../queue/fetch/fetch-form.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";

/** The place in the index of jobs where a fetch starts. */
export interface FetchStart {
  readonly priority: number;
  readonly runAtSeconds: number | "-Infinity";
}

/** The beginning of the index. */
export const BEGINNING: FetchStart = { priority: -32_768, runAtSeconds: "-Infinity" };

/** The parameters of one fetch. */
export interface FetchRequest {
  readonly want: number;
  /** Whether this is a quick fetch (queue/fetch/quick-fetch.ts). */
  readonly isQuick: boolean;
  /** Whether the fetch may take a minute instead of a few seconds. */
  readonly isPatient: boolean;
  /** Whether jobs of named queues are fetched, too. */
  readonly queues: boolean;
  /** false: if there are limits of queues, the fetch does not search for a free named queue. */
  readonly findsFreeQueue: boolean;
  /** Which jobs without a named queue are fetched. */
  readonly free: JobKind;
  readonly start: FetchStart;
  readonly sentAtMs: number;
  /** The value of #readyCount when the request was made. */
  readonly readyCount: number;
}

// While vacuum is blocked, a fetch from the beginning of the index is slow, because entries of finished jobs remain
// there. So after a full fetch from the beginning, later fetches start further on, for WALKS times the duration of that
// fetch, within these bounds. In this time, fetches miss more urgent jobs that become due.
const TRUST_MS = 50;
const MAX_TRUST_MS = 1_000;
const WALKS = 20;

// If there are limits of queues, and a fetch finds every named queue locked, the next search for a free queue is due
// after SEARCHES times the duration of this fetch, at most MAX_SEARCH_PAUSE_MS.
const SEARCHES = 20;
const MAX_SEARCH_PAUSE_MS = 250;

/** The earliest time in PostgreSQL, in 4714 BC. */
const EARLIEST_S = -210_866_803_200;

/** A fetch that takes longer than this has probably read far more index entries than it has locked jobs. */
const LONG_WALK_MS = 1_000;
const PATIENT_WALK_MS = 4_000;

/** The time for which jobs are fetched ahead, in milliseconds: a few round trips. */
export const HORIZON_MS = 25;

const QUICK_JOBS = 32;
const MAX_QUICK_SKIPS = 64;

/** The log message for a fetch of the safe mode that has exceeded the usual time limit. */
export const LONG_FETCH =
  "a fetch of jobs took too long and is repeated with more time; a possible cause: millions of ready jobs of other tasks come before those of this worker";

export class FetchPlan {
  readonly #clock: Clock;
  readonly #free: JobKind;
  // Each event that may have made a job ready increments #readyCount. When a short fetch has read everything,
  // #drainedCount becomes the value that #readyCount had when the fetch was requested.
  #readyCount = 1;
  #drainedCount = 0;
  /** Whether some named queue may be free. */
  #queuesAreFree: boolean;
  /** When the next search for a free queue is due. */
  #searchAtMs = 0;
  /** The value of #readyCount after this worker last unlocked a queue. */
  #unlockCount = 0;
  /** Whether a fetch after the last search has left out the search. */
  #hasLeftOutSearch = false;
  #start: FetchStart = BEGINNING;
  #trustedUntilMs = 0;
  #resetAtMs = 0;
  #most = Number.POSITIVE_INFINITY;
  #isPatient = false;
  #jobsPerMs = 0;
  #finished = 0;
  #measuredAtMs: number;
  /** Whether the next fetch may be quick: the last wake() was for announced jobs and found the plan drained. */
  #isFirstNews = false;
  #quickSkips = 0;
  #quickSkipsLeft = 0;

  /** If `free` is `fast`, no jobs of named queues are fetched. */
  constructor(clock: Clock, free: JobKind) {
    this.#clock = clock;
    this.#free = free;
    this.#queuesAreFree = free !== "fast";
    this.#measuredAtMs = clock.monotonic();
  }

  /** Whether a fetch would find nothing, according to the recorded answers and events. */
  get isDrained(): boolean {
    return this.#drainedCount >= this.#readyCount;
  }

  get mark(): number {
    return this.#readyCount;
  }

  /** Records that nothing was ready when `mark` was read. */
  sawNothing(mark: number): void {
    this.#drainedCount = Math.max(this.#drainedCount, mark);
  }

  /** Records that jobs may be ready, but keeps the start of fetches. `hasFreeQueue`: a named queue was unlocked. */
  raise(hasFreeQueue = false): void {
    this.#readyCount++;
    if (hasFreeQueue) [this.#searchAtMs, this.#unlockCount] = [0, this.#readyCount];
  }

  /** If a left-out search is due, calls raise(). If it is due later, returns the ms until then; else Infinity. */
  requestDueSearch(): number {
    if (!this.#hasLeftOutSearch || !this.isDrained) return Number.POSITIVE_INFINITY;
    const waitMs = this.#searchAtMs - this.#clock.monotonic();
    if (waitMs > 0) return waitMs;
    this.raise();
    return Number.POSITIVE_INFINITY;
  }

  /** Calls raise() and reset(). Returns whether the plan was drained before the call. */
  wake(isNews: boolean): boolean {
    const wasDrained = this.isDrained;
    this.raise();
    this.reset();
    this.#isFirstNews = wasDrained && isNews;
    return wasDrained;
  }

  reset(): void {
    this.#start = BEGINNING;
    this.#resetAtMs = this.#clock.monotonic();
  }

  /** The number of jobs that end within HORIZON_MS at the recent speed. */
  get ahead(): number {
    return Math.floor(this.#jobsPerMs * HORIZON_MS);
  }

  countEnded(count: number): void {
    this.#finished += count;
  }

  /** Updates the mean speed at which jobs end. */
  measure(): void {
    const nowMs = this.#clock.monotonic();
    const elapsedMs = nowMs - this.#measuredAtMs;
    if (elapsedMs < 1) return;
    const recent = this.#finished / elapsedMs;
    // A speed measured more than a second ago does not count.
    this.#jobsPerMs = elapsedMs > 1_000 ? recent : (this.#jobsPerMs + recent) / 2;
    this.#finished = 0;
    this.#measuredAtMs = nowMs;
  }

  get isPatient(): boolean {
    return this.#isPatient;
  }

  /** Returns the request for up to `wanted` jobs. */
  request(wanted: number, mayBeQuick: boolean): FetchRequest {
    // A quick fetch reads no jobs of named queues, and cannot leave out the jobs that are for the fast mode.
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
      findsFreeQueue: this.#queuesAreFree || this.#clock.monotonic() >= this.#searchAtMs,
      free: this.#free,
      start: this.#start,
      sentAtMs: this.#clock.monotonic(),
      readyCount: this.#readyCount,
    };
  }

  /** Records an answer. `hasFree`: some named queue is free; null: unknown. Returns whether nothing more is ready. */
  learn(jobs: readonly FetchedJob[], request: FetchRequest, hasFree: boolean | null): boolean {
    if (request.isQuick) {
      this.#learnQuick(jobs.length);
      return false; // A quick fetch reads only the most urgent jobs, so an ordinary fetch follows.
    }
    const { queues, start, sentAtMs, readyCount } = request;
    const isFull = jobs.length >= request.want;
    const tookMs = this.#clock.monotonic() - sentAtMs;
    this.#learnLength(isFull, tookMs);
    const queuesAreFree = hasFree ?? false;
    this.#hasLeftOutSearch =
      hasFree === null || (this.#hasLeftOutSearch && readyCount < this.#readyCount);
    if (hasFree === false && readyCount >= this.#unlockCount)
      this.#searchAtMs = sentAtMs + Math.min(SEARCHES * tookMs, MAX_SEARCH_PAUSE_MS);
    // A short fetch from the beginning has read all jobs, unless it read no named queues although one is free.
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

  /** Records the answer to a request for jobs of queues under a limit. Returns whether nothing more is ready. */
  learnManaged(count: number, { want, sentAtMs, readyCount }: FetchRequest): boolean {
    this.#learnLength(count >= want, this.#clock.monotonic() - sentAtMs);
    if (count > 0) return false;
    this.sawNothing(readyCount);
    return this.isDrained;
  }

  /** Returns whether a request failed by a timeout. */
  learnFailure(error: unknown): boolean {
    if (!(error instanceof WorkerError) || error.code !== "database_timeout") return false;
    this.#most = 1;
    this.#isPatient = true;
    return true;
  }

  /** Called when a request failed because of its jobs or their payloads. */
  learnRefusal(): void {
    this.#most = 1;
  }

  /** Sets the speed to 0 after the loss of a connection: the jobs fetched ahead may have been too large together. */
  resetSpeed(): void {
    this.#jobsPerMs = 0;
    this.#finished = 0;
    this.#measuredAtMs = this.#clock.monotonic();
  }

  /** After a slow short fetch, the next fetch requests one job, so that this job does not wait for others. */
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
    this.#quickSkips = found > 0 ? 0 : Math.min(MAX_QUICK_SKIPS, this.#quickSkips * 2 || 1);
    this.#quickSkipsLeft = this.#quickSkips;
  }

  #move(last: FetchedJob, sentAtMs: number): void {
    if (this.#start === BEGINNING) {
      const nowMs = this.#clock.monotonic();
      // If reset() was called after the fetch was sent, the answer may lack new jobs, so the time is only TRUST_MS.
      const walkMs = sentAtMs > this.#resetAtMs ? nowMs - sentAtMs : 0;
      const trustMs = Math.max(TRUST_MS, WALKS * walkMs);
      this.#trustedUntilMs = nowMs + Math.min(trustMs, MAX_TRUST_MS);
    }
    // A double holds microseconds only approximately, so the start is 10 µs before the last job.
    const runAtSeconds = last.runAtSeconds - 0.00001;
    this.#start = {
      priority: last.priority,
      runAtSeconds: runAtSeconds < EARLIEST_S ? BEGINNING.runAtSeconds : runAtSeconds,
    };
  }
}

/**
 * Returns whether another fetch must follow: this fetch may have locked rows of jobs that it did not return, and a
 * parallel fetch may have skipped these jobs. If all returned jobs are of named queues, their end causes another fetch.
 */
function leavesLocked({ queues, want }: FetchRequest, jobs: readonly FetchedJob[]): boolean {
  return queues && jobs.length === want && jobs.some(({ isQueued }) => !isQueued);
}
