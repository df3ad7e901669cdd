// Where the next claim may start: behind the jobs that the last full claim took. Under a held xmin
// the dead index entries of finished jobs stay, and a claim without the mark walks over all of them.
import { monotonic } from "../base/clock.ts";
import type { ClaimedJob } from "./claimed-job.ts";

/** How long a mark is trusted: a job that is more urgent waits at most this long. */
const TRUST_MS = 50;

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
  #since_ms = 0;

  get mark(): LowWaterMark {
    if (monotonic() - this.#since_ms > TRUST_MS) this.#mark = NO_MARK;
    return this.#mark;
  }

  /** Anything may have become ready: the next claim looks at everything. */
  forget(): void {
    this.#mark = NO_MARK;
  }

  /** A full claim of jobs without a queue ended with this one. */
  remember(last: ClaimedJob): void {
    if (this.#mark === NO_MARK) this.#since_ms = monotonic();
    // A double holds microseconds only just: stay on the safe side of the last digit.
    const runAt_s = last.runAt_s - 0.00001;
    this.#mark = {
      priority: last.priority,
      runAt_s: runAt_s < EARLIEST_S ? NO_MARK.runAt_s : runAt_s,
    };
  }
}
