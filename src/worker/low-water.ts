// Where the next claim may start: behind the jobs that the last full claim took. Under a held xmin
// the dead index entries of finished jobs stay, and a claim without the mark walks over all of them.
import { monotonic } from "../base/clock.ts";
import type { ClaimedJob } from "./claimed-job.ts";

// How long a mark is trusted. A more urgent job that nobody announces, such as one that falls due,
// waits for that long at most; a claim without a mark takes the longer, the more dead entries there
// are, so it is made for a twentieth of the time.
const TRUST_MS = 50;
const TRUST_AT_MOST_MS = 1_000;
const WALKS = 20;

/** The beginning of PostgreSQL's time, in 4714 BC. */
const EARLIEST_S = -210_866_803_200;

/** Where the last full claim of jobs ended. */
export interface LowWaterMark {
  readonly priority: number;
  readonly runAt_s: number | "-Infinity";
}

/** No mark: look at everything. */
export const NO_MARK: LowWaterMark = { priority: -32_768, runAt_s: "-Infinity" };

export class LowWater {
  #mark: LowWaterMark = NO_MARK;
  #until_ms = 0;
  #forgottenAt_ms = 0;

  get mark(): LowWaterMark {
    if (monotonic() > this.#until_ms) this.#mark = NO_MARK;
    return this.#mark;
  }

  /** Anything may have become ready: the next claim looks at everything. */
  forget(): void {
    this.#mark = NO_MARK;
    this.#forgottenAt_ms = monotonic();
  }

  /** A full claim of jobs without a queue, which was sent at `sentAt_ms`, ended with this one. */
  remember(last: ClaimedJob, sentAt_ms: number): void {
    if (this.#mark === NO_MARK) {
      const now_ms = monotonic();
      // What has become ready since it was sent, it may not have seen.
      const walk_ms = sentAt_ms > this.#forgottenAt_ms ? now_ms - sentAt_ms : 0;
      const trust_ms = Math.max(TRUST_MS, WALKS * walk_ms);
      this.#until_ms = now_ms + Math.min(trust_ms, TRUST_AT_MOST_MS);
    }
    // A double holds microseconds only just: stay on the safe side of the last digit.
    const runAt_s = last.runAt_s - 0.00001;
    this.#mark = {
      priority: last.priority,
      runAt_s: runAt_s < EARLIEST_S ? NO_MARK.runAt_s : runAt_s,
    };
  }
}
