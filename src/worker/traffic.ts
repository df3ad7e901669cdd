// Exchanges with the database that are under way.
import { Gate } from "../base/gate.ts";

/**
 * A claim without an answer for this long may have lost its connection without knowing it: others do
 * not wait for it.
 */
const SLOW_MS = 20;

/** One exchange. */
interface Sent {
  readonly want: number;
  readonly timer: NodeJS.Timeout;
  isSlow: boolean;
}

export class Traffic {
  readonly #underWay = new Set<Sent>();
  readonly #quiet = new Gate();
  readonly #onSlow: () => void;

  /** `onSlow`: a claim is waited for no longer. */
  constructor(onSlow: () => void) {
    this.#onSlow = onSlow;
  }

  /** Jobs that claims under way have asked for, but for slow ones. */
  get asked(): number {
    let asked = 0;
    for (const { want, isSlow } of this.#underWay) if (!isSlow) asked += want;
    return asked;
  }

  get isQuiet(): boolean {
    return this.#underWay.size === 0;
  }

  /** Resolves when no exchange is under way. */
  async quiet(): Promise<void> {
    if (!this.isQuiet) await this.#quiet.pass();
  }

  sent(want: number): Sent {
    const timer = setTimeout(() => {
      sent.isSlow = true;
      this.#onSlow();
    }, SLOW_MS);
    const sent: Sent = { want, timer: timer.unref(), isSlow: false };
    this.#underWay.add(sent);
    return sent;
  }

  answered(sent: Sent): void {
    clearTimeout(sent.timer);
    this.#underWay.delete(sent);
    if (this.isQuiet) this.#quiet.open();
  }
}
