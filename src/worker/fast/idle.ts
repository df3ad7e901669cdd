// The wait of a fast lane while there is nothing to fetch, and its wake-up.
//
//   fetching ──no jobs──▶ idle ──wake──▶ fetching (first: jobs were announced, and other fetchers wait for a moment)
import type { Clock } from "../../base/clock.ts";

/** The longest time that other fetchers wait for the first fetch for announced jobs: its connection may not respond. */
const FIRST_MS = 20;

/** How long a stop waits for the answer to a fetch. After that the connection is closed, which unlocks its rows. */
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

  /** Whether the first fetch for announced jobs has no answer yet. True for FIRST_MS at most. */
  get isFetchingFirst(): boolean {
    return this.#isFetchingFirst && this.#clock.monotonic() - this.#wokenAtMs < FIRST_MS;
  }

  /** Whether LATE_MS have passed since end(). */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Called when jobs may have become ready. `isNews`: they were just announced. */
  wake(isNews: boolean): void {
    const onWake = this.#onWake;
    this.#onWake = null;
    if (onWake !== null) {
      // Announced jobs are most often for this lane, so other fetchers wait for it. Without news they do not wait.
      this.#isFetchingFirst = isNews;
      this.#wokenAtMs = this.#clock.monotonic();
      onWake(isNews);
    }
    this.#resume?.();
  }

  /** Ends the wait without a first fetch: a slot is free, results wait, or the lane must connect again. */
  resume(): void {
    this.#resume?.();
  }

  /** Ends the wait, because the lane stops. `onLate` is called after LATE_MS, unless close() is called first. */
  end(onLate: () => void): void {
    this.#resume?.();
    this.#cancelLate();
    this.#cancelLate = this.#clock.after(LATE_MS, () => {
      this.#isLate = true;
      onLate();
    });
  }

  /** Cancels the timer, which would keep the process alive. */
  close(): void {
    this.#cancelLate();
  }

  /** Called when a fetch has its answer, or will have none. Returns whether it was a first fetch for announced jobs. */
  endFirstFetch(): boolean {
    const wasFirst = this.#isFetchingFirst;
    this.#isFetchingFirst = false;
    return wasFirst;
  }

  /** Waits until wake(), resume() or end(). Calls `onIdle` at once, and `onWake` synchronously in wake(). */
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
