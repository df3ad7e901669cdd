// Exchanges with the database that are under way.
import { monotonic } from "../base/clock.ts";
import { Gate } from "../base/gate.ts";

/** A claim without an answer for this long may have lost its connection without knowing it. */
const FRESH_MS = 20;

export class Traffic {
  #exchanges = 0;
  #asked = 0;
  #askedAt_ms = 0;
  readonly #quiet = new Gate();

  /** Jobs that claims under way have asked for. */
  get asked(): number {
    return this.#asked;
  }

  /** A claim is under way, and not for long yet. */
  get isAsking(): boolean {
    return this.#asked > 0 && monotonic() - this.#askedAt_ms < FRESH_MS;
  }

  get isQuiet(): boolean {
    return this.#exchanges === 0;
  }

  /** Resolves when no exchange is under way. */
  async quiet(): Promise<void> {
    if (!this.isQuiet) await this.#quiet.pass();
  }

  sent(want: number): void {
    this.#exchanges++;
    this.#asked += want;
    if (want > 0) this.#askedAt_ms = monotonic();
  }

  answered(want: number): void {
    this.#exchanges--;
    this.#asked -= want;
    if (this.isQuiet) this.#quiet.open();
  }
}
