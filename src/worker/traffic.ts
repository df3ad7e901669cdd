// Exchanges with the database that are under way.
import { Gate } from "../base/gate.ts";

export class Traffic {
  #exchanges = 0;
  #asked = 0;
  readonly #quiet = new Gate();

  /** Jobs that claims under way have asked for. */
  get asked(): number {
    return this.#asked;
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
  }

  answered(want: number): void {
    this.#exchanges--;
    this.#asked -= want;
    if (this.isQuiet) this.#quiet.open();
  }
}
