// The round trips of the safe mode that have no answer: how many jobs they ask for, and whether one hangs.
//
//   sent ──20 ms──▶ slow: another one may be sent ──answer, or the connection is lost──▶ over
import type { Clock } from "../../base/clock.ts";

/** A fetch without an answer for this long is not waited for before another one is sent. */
const SLOW_MS = 20;

/** One round trip. */
export interface RoundTrip {
  /** Jobs that it asks for; 0: it only writes results. */
  readonly want: number;
  /** It also writes results. */
  readonly hasResults: boolean;
  readonly cancelTimer: () => void;
  isSlow: boolean;
}

export class RoundTrips {
  #underWay: readonly RoundTrip[] = [];
  readonly #clock: Clock;
  readonly #onSlow: () => void;
  #ended: PromiseWithResolvers<void> | null = null;

  /** `onSlow`: a fetch is waited for no longer. */
  constructor(clock: Clock, onSlow: () => void) {
    this.#clock = clock;
    this.#onSlow = onSlow;
  }

  /**
   * Jobs that have been asked for. Slow fetches count, too, until they have an answer or their
   * connection is lost: what they ask for may be locked already, and asking for it again would lock
   * twice as much as there are slots for.
   */
  get asked(): number {
    let asked = 0;
    for (const { want } of this.#underWay) asked += want;
    return asked;
  }

  /** Some fetch should have its answer in a moment. */
  get hasPrompt(): boolean {
    for (const { want, isSlow } of this.#underWay) if (want > 0 && !isSlow) return true;
    return false;
  }

  get hasResults(): boolean {
    return this.#underWay.some(({ hasResults }) => hasResults);
  }

  get isNone(): boolean {
    return this.#underWay.length === 0;
  }

  /** Resolves when none is under way. */
  async ended(): Promise<void> {
    if (this.isNone) return;
    this.#ended ??= Promise.withResolvers();
    await this.#ended.promise;
  }

  sent(want: number, hasResults = false): RoundTrip {
    const cancelTimer = this.#clock.after(SLOW_MS, () => {
      sent.isSlow = true;
      this.#onSlow();
    });
    const sent: RoundTrip = { want, hasResults, cancelTimer, isSlow: false };
    this.#underWay = [...this.#underWay, sent];
    return sent;
  }

  answered(trip: RoundTrip): void {
    trip.cancelTimer();
    this.#underWay = this.#underWay.filter((one) => one !== trip);
    if (!this.isNone) return;
    this.#ended?.resolve();
    this.#ended = null;
  }
}
