// How fast jobs have been done lately, and so how many are worth fetching ahead: slow jobs are left
// to other workers.
import { monotonic } from "../base/clock.ts";

// The time that fetched jobs should last: some round trips, so that slots never run dry.
const HORIZON_MS = 25;

export class Pace {
  #rate_per_ms = 0;
  #finished = 0;
  #measuredAt = monotonic();

  /** Jobs that the recent speed will use up within the horizon. */
  get ahead(): number {
    return Math.floor(this.#rate_per_ms * HORIZON_MS);
  }

  finished(count: number): void {
    this.#finished += count;
  }

  /** A fetch failed, perhaps because it was too large: begin again with few. */
  forget(): void {
    this.#rate_per_ms = 0;
    this.#finished = 0;
    this.#measuredAt = monotonic();
  }

  /** Updates the speed; called once a fetch. */
  measure(): void {
    const now = monotonic();
    const elapsed_ms = now - this.#measuredAt;
    if (elapsed_ms < 1) return;
    const rate = this.#finished / elapsed_ms;
    // A longer pause counts in full, a burst is believed half: grows in a few fetches, never jumps.
    this.#rate_per_ms = elapsed_ms > 1_000 ? rate : (this.#rate_per_ms + rate) / 2;
    this.#finished = 0;
    this.#measuredAt = now;
  }
}
