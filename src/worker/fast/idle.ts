// How a connection of the fast mode waits while there is nothing to fetch, and is woken.
//
//   fetching ──nothing there──▶ idle ──wake──▶ fetching first (others let it go first, for a moment)
import type { Clock } from "../../base/clock.ts";

/** Others let a first fetch go first for this long: a connection may be dead without knowing it. */
const FIRST_MS = 20;

/** Who stops waits for the answer to a fetch as long: its rows are free when the connection is closed. */
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

  /** Has been idle, and waits for the answer to its first fetch, not for long yet. */
  get isFetchingFirst(): boolean {
    return this.#isFetchingFirst && this.#clock.monotonic() - this.#wokenAtMs < FIRST_MS;
  }

  /** It ends, and what only fetches has had its time. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Something may have become ready; `isNews`: just now. */
  wake(isNews: boolean): void {
    if (this.isWaiting && !this.#isFetchingFirst) {
      this.#isFetchingFirst = true;
      this.#wokenAtMs = this.#clock.monotonic();
      this.#onWake?.(isNews);
    }
    this.#resume?.();
  }

  /** There is something else to do than to fetch. */
  resume(): void {
    this.#resume?.();
  }

  /** Nothing is fetched any more; `onLate`: nor waited for. */
  end(onLate: () => void): void {
    this.#resume?.();
    this.#cancelLate();
    this.#cancelLate = this.#clock.after(LATE_MS, () => {
      this.#isLate = true;
      onLate();
    });
  }

  /** It has ended: a timer would keep the process alive. */
  close(): void {
    this.#cancelLate();
  }

  /** The first fetch has its answer, or will have none. True when somebody waited for it. */
  answered(): boolean {
    const wasFirst = this.#isFetchingFirst;
    this.#isFetchingFirst = false;
    return wasFirst;
  }

  /** Until wake() or resume(). Calls `onIdle` at once, and `onWake` in the moment of a wake(). */
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
