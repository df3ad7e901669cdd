// The wait of a fast lane that has nothing to fetch and no results to write. When jobs are announced, an idle lane
// begins a *first fetch*, and other fetchers wait a moment for the answer.
//
//   fetching ──no jobs──▶ idle ──wake──▶ fetching
import type { Clock } from "../../base/clock.ts";

/** How long other fetchers wait for a first fetch. The limit is needed because a connection may not respond. */
const FIRST_MS = 20;

/**
 * How long a stop waits for the answer to a fetch that writes no results. After this time the connection can be
 * closed, which unlocks the fetched jobs.
 */
const LATE_MS = 400;

export class Idle {
  readonly #clock: Clock;
  #resume: (() => void) | null = null;
  #onWake: ((isNews: boolean) => void) | null = null;
  #isFetchingFirst = false;
  #wokenAtMs = 0;
  #isLate = false;
  #cancelLate = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isWaiting(): boolean {
    return this.#resume !== null;
  }

  /** Whether the first fetch for announced jobs has no answer yet. */
  get isFetchingFirst(): boolean {
    return this.#isFetchingFirst && this.#clock.monotonic() - this.#wokenAtMs < FIRST_MS;
  }

  /** Whether LATE_MS have passed since end(). */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Called when jobs may have become ready. `isNews`: whether they were just announced. */
  wake(isNews: boolean): void {
    const onWake = this.#onWake;
    this.#onWake = null;
    if (onWake !== null) {
      // Most announced jobs are for this lane, so other fetchers wait for the lane's fetch.
      this.#isFetchingFirst = isNews;
      this.#wokenAtMs = this.#clock.monotonic();
      onWake(isNews);
    }
    this.#resume?.();
  }

  /** Ends the wait without a first fetch. */
  resume(): void {
    this.#resume?.();
  }

  /** Ends the wait, because the lane stops. */
  end(onLate: () => void): void {
    this.#resume?.();
    this.#cancelLate();
    this.#cancelLate = this.#clock.after(LATE_MS, () => {
      this.#isLate = true;
      onLate();
    });
  }

  /** Cancels the timer of end(). */
  close(): void {
    this.#cancelLate();
  }

  /** Called when a fetch has ended. Returns whether the fetch was a first fetch for announced jobs. */
  endFirstFetch(): boolean {
    const wasFirst = this.#isFetchingFirst;
    this.#isFetchingFirst = false;
    return wasFirst;
  }

  /** Waits for a call of wake(), resume() or end(). wake() calls `onWake` before it returns. */
  async wait(onIdle: () => void, onWake: (isNews: boolean) => void): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#resume = resolve;
      this.#onWake = onWake;
      onIdle();
    });
    this.#resume = null;
    this.#onWake = null;
  }
}
