// Fetches that are under way: how many jobs they have asked for, and whether one hangs.
import type { Clock } from "../../base/clock.ts";
import { Gate } from "../../base/gate.ts";

/** A fetch without an answer for this long is not waited for before another one is sent. */
const SLOW_MS = 20;

/** One fetch. */
interface Sent {
  readonly want: number;
  /** It also writes results. */
  readonly hasResults: boolean;
  readonly cancelTimer: () => void;
  isSlow: boolean;
}

export class PendingFetches {
  readonly #underWay = new Set<Sent>();
  readonly #none = new Gate();
  readonly #clock: Clock;
  readonly #onSlow: () => void;

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
    return [...this.#underWay].some((sent) => sent.hasResults);
  }

  get isNone(): boolean {
    return this.#underWay.size === 0;
  }

  /** Resolves when no fetch is under way. */
  async ended(): Promise<void> {
    if (!this.isNone) await this.#none.pass();
  }

  sent(want: number, hasResults = false): Sent {
    const cancelTimer = this.#clock.after(SLOW_MS, () => {
      sent.isSlow = true;
      this.#onSlow();
    });
    const sent: Sent = { want, hasResults, cancelTimer, isSlow: false };
    this.#underWay.add(sent);
    return sent;
  }

  answered(sent: Sent): void {
    sent.cancelTimer();
    this.#underWay.delete(sent);
    if (this.isNone) this.#none.open();
  }
}
