// Where the next fetch may start: behind the jobs that the last full fetch took. Under a held xmin the
// dead index entries of finished jobs stay, and a fetch from the beginning walks over all of them.
import type { Clock } from "../../base/clock.ts";
import type { ClaimedJob } from "../execute/claimed-job.ts";

// How long a position is trusted. A more urgent job that nobody announces, such as one that falls due,
// waits for that long at most; a fetch from the beginning takes the longer, the more dead entries
// there are, so it is made for a twentieth of the time.
const TRUST_MS = 50;
const TRUST_AT_MOST_MS = 1_000;
const WALKS = 20;

/** The beginning of PostgreSQL's time, in 4714 BC. */
const EARLIEST_S = -210_866_803_200;

/** Jobs before it are taken, or soon will be. */
export interface CursorPosition {
  readonly priority: number;
  readonly runAtSeconds: number | "-Infinity";
}

/** Look at everything. */
export const BEGINNING: CursorPosition = { priority: -32_768, runAtSeconds: "-Infinity" };

/** What a fetch has found. */
export interface Fetched {
  readonly jobs: readonly ClaimedJob[];
  /** As many as it asked for. */
  readonly isFull: boolean;
  /** There may be jobs of named queues: those are taken in runs and leave others behind them. */
  readonly hasQueues: boolean;
  /** When it was sent, by the monotonic clock. */
  readonly sentAtMs: number;
}

export class FetchCursor {
  readonly #clock: Clock;
  #position: CursorPosition = BEGINNING;
  #trustedUntilMs = 0;
  #resetAtMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get position(): CursorPosition {
    if (this.#clock.monotonic() > this.#trustedUntilMs) this.#position = BEGINNING;
    return this.#position;
  }

  /** Anything may have become ready: the next fetch looks at everything. */
  reset(): void {
    this.#position = BEGINNING;
    this.#resetAtMs = this.#clock.monotonic();
  }

  /** Moves behind a full fetch, and back to the beginning after a short one. */
  learn({ jobs, isFull, hasQueues, sentAtMs }: Fetched): void {
    const last = jobs.at(-1);
    if (!isFull) this.reset();
    else if (last !== undefined && !last.isQueued && !hasQueues) this.#move(last, sentAtMs);
  }

  #move(last: ClaimedJob, sentAtMs: number): void {
    if (this.#position === BEGINNING) {
      const nowMs = this.#clock.monotonic();
      // What has become ready since it was sent, it may not have seen.
      const walkMs = sentAtMs > this.#resetAtMs ? nowMs - sentAtMs : 0;
      const trustMs = Math.max(TRUST_MS, WALKS * walkMs);
      this.#trustedUntilMs = nowMs + Math.min(trustMs, TRUST_AT_MOST_MS);
    }
    // A double holds microseconds only just: stay on the safe side of the last digit.
    const runAtSeconds = last.runAtSeconds - 0.00001;
    this.#position = {
      priority: last.priority,
      runAtSeconds: runAtSeconds < EARLIEST_S ? BEGINNING.runAtSeconds : runAtSeconds,
    };
  }
}
