// How a fast lane rests and wakes up.
//
//   looking ──nothing there──▶ resting ──pulse──▶ looking
//      │                          ▲│
//      │  others in the way ──────┘└──after 10 ms, 20 ms, … 320 ms──▶ looking
//      └──── jobs ────▶ (busy: a pulse is remembered until the next look)
import { monotonic } from "../base/clock.ts";

/** Others let a look go first for this long: a connection may be dead without knowing it. */
const LOOK_MS = 20;

// Who finds all queues locked by others looks again: those may have been others that found nothing.
const AGAIN_MS = 10;
const AGAIN_AT_MOST_MS = 320;
/** After so many of those it is idle for who waits for an end. */
const PATIENCE = 3;

export class Rest {
  #wake: (() => void) | null = null;
  #onPulse: ((isNews: boolean) => void) | null = null;
  #hasPulse = true;
  #isLooking = false;
  #lookingSince_ms = 0;
  #again: NodeJS.Timeout | undefined;
  #inVain = 0;

  get isResting(): boolean {
    return this.#wake !== null;
  }

  /** Has rested, and waits for the answer to its first look, not for long yet. */
  get isLooking(): boolean {
    return this.#isLooking && monotonic() - this.#lookingSince_ms < LOOK_MS;
  }

  /** Something may be ready that no look has shown. */
  get hasPulse(): boolean {
    return this.#hasPulse;
  }

  /** Something may have become ready; `isNews`: just now. */
  pulse(isNews = false): void {
    this.#hasPulse = true;
    if (this.isResting && !this.#isLooking) {
      this.#isLooking = true;
      this.#lookingSince_ms = monotonic();
      this.#onPulse?.(isNews);
    }
    this.#wake?.();
  }

  /** There is something else to do than to look. */
  wake(): void {
    this.#wake?.();
  }

  /** Rests for a moment only. */
  get isImpatient(): boolean {
    return this.#again !== undefined && this.#inVain <= PATIENCE;
  }

  /** Others were in the way: another look soon, and less soon each time. */
  lookAgain(): void {
    clearTimeout(this.#again);
    const delay_ms = Math.min(AGAIN_MS * 2 ** this.#inVain++, AGAIN_AT_MOST_MS);
    this.#again = setTimeout(() => this.pulse(), delay_ms);
  }

  /** Nobody was in the way. */
  lookNoMore(): void {
    clearTimeout(this.#again);
    this.#again = undefined;
    this.#inVain = 0;
  }

  /** What becomes ready from now on is for the next look. */
  look(): void {
    this.#hasPulse = false;
  }

  /** The look has its answer, or will have none. True when somebody waited for it. */
  looked(): boolean {
    const wasLooking = this.#isLooking;
    this.#isLooking = false;
    return wasLooking;
  }

  /** Until a pulse, or wake(). Calls `onRest` at once, and `onPulse` in the moment of a pulse. */
  async rest(onRest: () => void, onPulse: (isNews: boolean) => void): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#onPulse = onPulse;
      onRest();
    });
    this.#wake = null;
    this.#onPulse = null;
  }
}
