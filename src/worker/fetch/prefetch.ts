// How many jobs are worth fetching ahead: what the recent speed will use up in a moment, so that slots
// never run dry and slow jobs are left to other workers.
import type { Clock } from "../../base/clock.ts";

/** The time that fetched jobs should last: some round trips. */
export const HORIZON_MS = 25;

export class Prefetch {
  readonly #clock: Clock;
  #jobsPerMs = 0;
  #finished = 0;
  #measuredAtMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#measuredAtMs = clock.monotonic();
  }

  /** Jobs that the recent speed will use up within the horizon. */
  get ahead(): number {
    return Math.floor(this.#jobsPerMs * HORIZON_MS);
  }

  finished(count: number): void {
    this.#finished += count;
  }

  /** A fetch failed, perhaps because it was too large: begin again with few. */
  forget(): void {
    this.#jobsPerMs = 0;
    this.#finished = 0;
    this.#measuredAtMs = this.#clock.monotonic();
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
}
